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
  // Of V8's two optimizing compilers, one: functions that maglev has compiled reach the other one, which makes faster code, much later.
  '--no-maglev',
  // The compiler runs where it is needed. Threads of its own leave 1 MiB of memory behind.
  '--no-concurrent-recompilation',
  // Takes another 2 MiB off, and 0.02 % of a core more.
  '--optimize-for-size',
  // A heap of a few MB is collected sooner by one thread than by four that have to be woken.
  '--single-threaded-gc',
];

export const STREAMER_COMMAND = ['node', ...NODE_FLAGS, IMAGE_PROGRAM];

/**
 * The environment of the image (Dockerfile), which would take room in each pod. One arena of the C library: with one for each thread,
 * each keeps freed buffers of its own.
 */
export const IMAGE_ENV = { MALLOC_ARENA_MAX: '1' };
