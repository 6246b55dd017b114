import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { KIND, LANES, type Lane, LEFT_OUT } from './scripts/lanes/table.ts';

// Vitest finds another copy of `graphql` for our files than Node finds for a library, and GraphQL types of two copies do
// not go together. What is inlined here is given the same copy as our files.
const server = { deps: { inline: ['graphql-http'] } };

// A condition that is waited for is one of other processes, which a busy machine may let wait for long. A limit here only
// ends what would never end: how fast things are is for the benchmarks.
const expect = { poll: { timeout: 60_000 } };

// Files come one after the other to a few workers, which keep what they have loaded: to load it anew for each file took a
// sixth of the processor time of all tests. A file leaves nothing behind that another one could find.
const isolate = false;

// A worker keeps what it has loaded, and V8 looks through all of it again each time that the heap has grown, and while nothing
// happens: 6 to 17 % of the processor time of workers on servers.
const execArgv = [
  '--no-memory-reducer',
  '--initial-heap-size=512',
  '--min-semi-space-size=16',
  '--max-semi-space-size=64',
];

/**
 * What takes long although it asks for little goes first: streams play as fast as one watches them, and an independent program
 * takes its time. At the end there would be nothing beside it that could use the processors meanwhile.
 */
class PatientFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      /schemathesis|clients\/rest|killed|replicas|\/(streamer|operator)\//.test(moduleId) ? 0 : 1;
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const describeLane = ({ name, tests, setup }: Lane) => ({
  name,
  include: [tests],
  exclude: [...LEFT_OUT],
  globalSetup: [...setup],
  setupFiles: ['test/kit/reads.ts'],
  server,
  expect,
});

/**
 * A project for each lane. The slower lanes mostly wait for processes, so a few files run side by side however many cores there are;
 * more would crowd a small machine.
 */
export default defineConfig({
  test: {
    // What a file becomes for a run is kept below node_modules: five runs of one command ask for the same files.
    fsModuleCache: true,
    sequence: { sequencer: PatientFirst },
    tags: [{ name: 'gate', description: 'Runs in make test, of a file whose other tests run in make test-all alone.' }],
    projects: [
      { test: { name: 'lint', include: ['test/lint/**/*.test.ts'] } },
      { test: { ...describeLane(LANES.unit), isolate, execArgv, testTimeout: 240_000 } },
      {
        test: {
          ...describeLane(LANES.system),
          isolate,
          execArgv,
          testTimeout: 420_000,
          hookTimeout: 420_000,
          // Each has a control plane. Four of these and two end-to-end ones took as long for all on two cores, within 3 %, and
          // left each test less of the machine.
          maxWorkers: 3,
        },
      },
      {
        test: {
          ...describeLane(LANES.e2e),
          isolate,
          execArgv,
          testTimeout: 420_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          ...describeLane(LANES.attack),
          isolate,
          execArgv,
          testTimeout: 420_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...describeLane(LANES.cluster),
          testTimeout: 400_000,
          // The first run builds programs and images.
          hookTimeout: 4_500_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          ...describeLane({ name: 'kind', tests: KIND, setup: [] }),
          exclude: [],
          testTimeout: 400_000,
          hookTimeout: 4_500_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
