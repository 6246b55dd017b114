/**
 * Builds the command line of a streamer: the entrypoint of the image, with flags that make Node a small process. V8 reads some of them
 * before any code of ours runs, and NODE_OPTIONS refuses most. Pure: no I/O, no clock.
 */

/** The program of the image (Dockerfile, ENTRYPOINT). */
export const IMAGE_PROGRAM = '/app/dist/app/main.js';

/**
 * A streamer works for some milliseconds a second, holds next to no objects, and moves buffers all day (test/bench/RESULTS.md, Node's
 * flags). Node ends at once where it does not know a flag, so a test starts the locked Node with them.
 */
export const NODE_FLAGS = [
  // With the defaults, the young generation keeps several MB of buffers that nobody refers to.
  '--max-semi-space-size=1',
  // V8's baseline code does as well: the threads that compile it for speed took a third of the processor time in the first minute.
  '--no-opt',
  '--no-maglev',
  // A heap of a few MB is collected sooner by one thread than by four that have to be woken.
  '--single-threaded-gc',
];

export const STREAMER_COMMAND = ['node', ...NODE_FLAGS, IMAGE_PROGRAM];

/** One arena of the C library: with one for each thread, each keeps freed buffers of its own. */
export const STREAMER_ENV = [{ name: 'MALLOC_ARENA_MAX', value: '1' }];
