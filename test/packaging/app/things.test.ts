import { expect, it } from '@jest/globals';
import { postTwice } from './posts.js';

it('replays a post that is sent twice', async () => {
  const [first, second] = await postTwice('by-jest');
  expect(first).toMatchObject({ status: 201, replayed: null });
  expect(second).toEqual({ ...first, replayed: 'true' });
});
