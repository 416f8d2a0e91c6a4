import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export type MeansName = '@nestjs-cls/transactional' | 'typeorm-transactional';

export interface JoiningProcess {
  readonly port: number;
  kill(): void;
}

/** Starts the application in a process of its own: the packages load each other as they do in a user's. */
export async function startJoiningProcess(url: string, means: MeansName): Promise<JoiningProcess> {
  const child = fork(join(import.meta.dirname, 'joining.mjs'), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaints = '';
  child.stderr?.on('data', (text) => (complaints += text));
  const died = once(child, 'exit').then(() => Promise.reject(new Error(`The application died. ${complaints}`)));
  died.catch(() => undefined);
  child.send({ url, means });
  const [{ port }] = (await Promise.race([once(child, 'message'), died])) as [{ port: number }];
  return { port, kill: () => void child.kill('SIGKILL') };
}
