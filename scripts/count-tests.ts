/**
 * Reads a vitest JSON report. Prints `<passed> <failed>` on stdout: tests, and suites that failed before any of their tests
 * ran. Names what failed on stderr.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
}

const [file = ''] = process.argv.slice(2);
const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
const broken = report.testResults.filter((r) => r.status === 'failed' && r.assertionResults.length === 0);
for (const { name } of broken) process.stderr.write(`${relative('.', name)}: it did not load\n`);
for (const { name, assertionResults } of report.testResults) {
  for (const { status, fullName } of assertionResults) {
    if (status === 'failed') process.stderr.write(`${relative('.', name)}: ${fullName}\n`);
  }
}
process.stdout.write(`${report.numPassedTests} ${report.numFailedTests + broken.length}\n`);
