import { postAmiss, postTwice } from './posts.js';

async function main(): Promise<void> {
  console.log(JSON.stringify([...(await postTwice('by-node')), ...(await postAmiss('amiss'))]));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
