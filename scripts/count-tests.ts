/**
 * Reads a vitest JSON report. Prints `<passed> <failed>` on stdout: tests, and suites that failed before any of their
 * tests ran. Names failures on stderr with the beginning of their messages, since readers of a log often see only its
 * end. With `--files` it prints the files with failures, a line each, and nothing else.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[];
  }[];
}

const REASON_LINES = 6;
const reason = (message = '') =>
  stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes('/node_modules/'))
    .slice(0, REASON_LINES)
    .map((line) => `    ${line.trim()}\n`)
    .join('');

const [file = '', option] = process.argv.slice(2);
const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
if (option === '--files') {
  const failed = report.testResults.filter(({ status }) => status === 'failed');
  process.stdout.write(failed.map(({ name }) => `${relative('.', name)}\n`).join(''));
  process.exit();
}
const broken = report.testResults.filter((r) => r.status === 'failed' && r.assertionResults.length === 0);
for (const { name, message } of broken)
  process.stderr.write(`${relative('.', name)}: it did not load\n${reason(message)}`);
for (const { name, assertionResults } of report.testResults) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status !== 'failed') continue;
    process.stderr.write(`${relative('.', name)}: ${fullName}\n${reason(failureMessages?.[0])}`);
  }
}
process.stdout.write(`${report.numPassedTests} ${report.numFailedTests + broken.length}\n`);
