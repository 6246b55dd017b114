/**
 * Sums up the reports that the lanes of `npm test` left in test-reports/. Names each failure with the beginning of its message,
 * and prints `N passed, N failed` as the last line; the exit status is 0 only when nothing failed.
 *
 *     test-report.ts          sums up
 *     test-report.ts again    runs the files that failed once more, one lane at a time, where a lane has few of them
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const LANES = ['unit', 'system', 'e2e', 'cluster', 'attack'] as const;
type Lane = (typeof LANES)[number];

interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[];
  }[];
}

interface Outcome {
  passed: number;
  /** A text for each failed test, and for each file that did not load. */
  failures: string[];
  failedFiles: string[];
  files: { name: string; seconds: number }[];
}

/** More files than these fail for a reason that a second run does not take away. */
const FEW_FILES = 5;
const SLOWEST_FILES = 10;
const REASON_LINES = 6;

const describeReason = (message = '') =>
  stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes('/node_modules/'))
    .slice(0, REASON_LINES)
    .map((line) => `\n      ${line.trim()}`)
    .join('');

const readText = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** `run`: a lane, or a lane and `.again`. */
function readOutcome(run: string): Outcome | undefined {
  const report = readText(`test-reports/${run}.json`);
  // A lane that could not start leaves the report of the run before.
  if (report === '' || readText(`test-reports/${run}.status`) === '') return undefined;
  const { numPassedTests, testResults } = JSON.parse(report) as Report;
  const failed = testResults.filter(({ status }) => status === 'failed');
  // vitest may fail without a failed test, e.g. by an unhandled error.
  const status = readText(`test-reports/${run}.status`).trim();
  const ended = failed.length === 0 && status !== '0' ? [`${run}: vitest ended with status ${status}`] : [];
  return {
    passed: numPassedTests,
    failedFiles: failed.map(({ name }) => relative('.', name)),
    files: testResults.map(({ name, startTime, endTime }) => ({
      name: relative('.', name),
      seconds: (endTime - startTime) / 1000,
    })),
    failures: ended.concat(
      failed.flatMap(({ name, message, assertionResults }) => {
        const tests = assertionResults.filter(({ status }) => status === 'failed');
        if (tests.length === 0) return [`${relative('.', name)} did not load${describeReason(message)}`];
        return tests.map(
          ({ fullName, failureMessages }) =>
            `${relative('.', name)}: ${fullName}${describeReason(failureMessages?.[0])}`,
        );
      }),
    ),
  };
}

function runAgain(lane: Lane): void {
  const { failedFiles = [] } = readOutcome(lane) ?? {};
  if (failedFiles.length === 0 || failedFiles.length > FEW_FILES) return;
  process.stdout.write(`  … again, alone: ${failedFiles.join(', ')}\n`);
  spawnSync(join(import.meta.dirname, 'test-lane'), [lane, ...failedFiles], { stdio: 'ignore' });
}

function printTimes(outcomes: ReadonlyMap<Lane, Outcome>): void {
  const lanes = [...outcomes.keys()].map((lane) => `${lane} ${readText(`test-reports/${lane}.seconds`).trim()} s`);
  const files = [...outcomes.values()].flatMap((outcome) => outcome.files).sort((a, b) => b.seconds - a.seconds);
  const slowest = files.slice(0, SLOWEST_FILES).map(({ name, seconds }) => `  ${seconds.toFixed(0)} s  ${name}\n`);
  process.stdout.write(`\nLanes, side by side: ${lanes.join(', ')}\nSlowest files:\n${slowest.join('')}`);
}

function summarize(): number {
  const outcomes = new Map<Lane, Outcome>();
  let passed = 0;
  const failures: string[] = [];
  const passedAlone: string[] = [];
  for (const lane of LANES) {
    const first = readOutcome(lane);
    const again = readOutcome(`${lane}.again`);
    const skipped = /^skipped: .*$/m.exec(readText(`test-reports/${lane}.log`))?.[0];
    if (first) {
      outcomes.set(lane, first);
      const isMended = again?.failures.length === 0 && again.passed > 0;
      passed += first.passed + (isMended ? first.failures.length : 0);
      (isMended ? passedAlone : failures).push(...first.failures);
    } else if (skipped) process.stdout.write(`${lane}: ${skipped}\n`);
    else failures.push(`the lane ${lane} wrote no report: see the errors above, and test-reports/${lane}.log`);
  }
  if (existsSync('test-reports/lint')) passed += 1;
  else failures.push('lint failed: see above, or run `make lint`');
  if (existsSync('test-reports/core')) passed += 1;
  else if (process.env.LOOPSTREAM_TEST_SCOPE !== 'gate')
    failures.push('core/ alone failed: run scripts/check-core --tests');
  const list = (title: string, items: string[]) =>
    items.length > 0 && process.stdout.write(`\n${title}:\n${items.map((item) => `  ${item}\n`).join('')}`);
  list('Passed only when run again, alone', passedAlone);
  list('Failed', failures);
  printTimes(outcomes);
  process.stdout.write(`\n${passed} passed, ${failures.length} failed\n`);
  return failures.length > 0 ? 1 : 0;
}

if (process.argv[2] === 'again') LANES.forEach(runAgain);
else process.exitCode = summarize();
