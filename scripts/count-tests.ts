/** Prints `<passed> <failed>` of a vitest JSON report: tests, and suites that failed before any of their tests ran. */
import { readFileSync } from 'node:fs';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

const [file = ''] = process.argv.slice(2);
const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
const brokenSuites = report.testResults.filter((r) => r.status === 'failed' && r.assertionResults.length === 0).length;
process.stdout.write(`${report.numPassedTests} ${report.numFailedTests + brokenSuites}\n`);
