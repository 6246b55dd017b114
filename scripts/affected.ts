/**
 * On which of the slow tests a change can have an effect. Pure: no I/O, no clock; paths are relative to the project's root.
 *
 * What a test loads, vitest finds by following imports. What it only reaches by its path (a manifest, a program of another
 * language, one that a test starts) no import shows: a change of such a file can be felt everywhere.
 */
export const LANES = ['system', 'e2e', 'attack', 'cluster'] as const;
export type Lane = (typeof LANES)[number];

/** All tests of a lane, or those that these files can be reached from; none where there are none. */
export type Affected = Record<Lane, 'all' | string[]>;

/** Read by no slow test. Unit tests always run. README.md and docs/ are held against what is there. */
const APART = [
  /^(?!README\.md$|docs\/).*\.md$/,
  /^test\/(?:bench|chaos)\//,
  /^test\/(?!e2e\/|attack\/|cluster\/)(?!.*\.system\.test\.ts$).*\.test\.ts$/,
];
/** Reached by imports alone; a path with other characters than these is nothing that a shell should be told of. */
const IMPORTED = /^(?:src|test)\/[\w./-]+\.tsx?$/;
/** What tests and their support start, or read, by its path. test/affected.test.ts knows whether it is so. */
const STARTED = /^test\/support\/(?:(?:clear|fuzz|hostile|node-agent|tus-client)\.ts$|engine\/)/;
const PAGES = /^src\/dashboard\//;
/** The end-to-end tests, the attacks and the cluster have all of it in them. */
const PRODUCT = /^(?:src|test\/support)\//;
const E2E = /^test\/e2e\//;
const ATTACK = /^test\/attack\//;
const CLUSTER = /^test\/cluster\//;

/** `changed`: files that are new, other or gone since all other tests passed, and test files that did not. */
export function affected(changed: readonly string[]): Affected {
  const files = changed.filter((file) => !APART.some((apart) => apart.test(file)));
  if (files.some((file) => !PAGES.test(file) && (!IMPORTED.test(file) || STARTED.test(file))))
    return { system: 'all', e2e: 'all', attack: 'all', cluster: 'all' };
  const product = files.some((file) => PRODUCT.test(file));
  // The pages are served by a role, and no import leads to them.
  const imported = new Set(files.map((file) => (PAGES.test(file) ? 'src/main.ts' : file)));
  return {
    system: [...imported].filter((file) => ![E2E, ATTACK, CLUSTER].some((lane) => lane.test(file))),
    e2e: product ? 'all' : files.filter((file) => E2E.test(file)),
    attack: product ? 'all' : files.filter((file) => ATTACK.test(file)),
    cluster: product || files.some((file) => CLUSTER.test(file)) ? 'all' : [],
  };
}
