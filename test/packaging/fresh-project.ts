import { copyFile, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { npm, run } from './run.js';

const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];

/** An application of someone else, in a folder of its own, with the packed library installed. */
export class FreshProject {
  private constructor(
    private readonly folder: string,
    private readonly databaseUrl: string,
  ) {}

  /** Makes the project `projects/<name>` with the source in `app/`, and installs it with npm. */
  static async create(name: string, within: string, tarball: string, databaseUrl: string): Promise<FreshProject> {
    const folder = join(within, name);
    await cp(join(import.meta.dirname, 'projects', name), folder, { recursive: true });
    await cp(join(import.meta.dirname, 'app'), join(folder, 'src'), { recursive: true });
    await copyFile(tarball, join(folder, 'nestjs-idempotency.tgz'));
    await npm(INSTALL, folder).catch((error: unknown) => {
      throw new Error(
        `The project ${name} could not be installed. These tests install fresh projects and need the npm registry ` +
          'that `npm config get registry` names; `npm ping` tells whether it can be reached.',
        { cause: error },
      );
    });
    return new FreshProject(folder, databaseUrl);
  }

  /** Compiles it with its own TypeScript, as its tsconfig.json says. */
  compile(): Promise<string> {
    return this.node(['node_modules/typescript/bin/tsc']);
  }

  /** Runs its tests with its own jest. */
  jest(): Promise<string> {
    return this.node(['--experimental-vm-modules', 'node_modules/jest/bin/jest.js']);
  }

  /** Runs a command that its packages brought along, and returns what it printed. */
  bin(name: string, args: readonly string[]): Promise<string> {
    return npm(['exec', '--offline', '--', name, ...args], this.folder);
  }

  /** Runs Node in its folder, and returns what it printed. */
  node(args: readonly string[]): Promise<string> {
    return run(process.execPath, args, this.folder, { environment: { DATABASE_URL: this.databaseUrl } });
  }
}
