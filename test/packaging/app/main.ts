import { postTwice } from './post-twice.js';

postTwice('by-node').then(
  (answers) => console.log(JSON.stringify(answers)),
  (error) => {
    console.error(error);
    process.exitCode = 1;
  },
);
