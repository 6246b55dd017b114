/**
 * Runs the conformance suite of MCP for each revision. A failed check must be in the table below, with its reason; a passed scenario must
 * not. Any new failure fails the test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environment } from '../../../src/core/settings/environment.ts';
import { run } from '../../../tools/process/run.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { installNpm } from './install.ts';
import { serveTools, type Tools } from './mcp/serve.ts';

/** Scenarios, or `scenario/check`, by the reason for their failure here. */
const NOT_HERE: Record<string, readonly string[]> = {
  'It calls a tool or prompt that only the suite’s own server has.': [
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-list-roots',
    'input-required-result-basic-sampling',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-missing-input-response',
    'input-required-result-multi-round',
    'input-required-result-multiple-input-requests',
    'input-required-result-non-tool-request',
    'input-required-result-request-state',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'http-custom-header-server-validation',
    'json-schema-2020-12',
    'prompts-get-embedded-resource',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-with-image',
    'server-stateless/sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless/sep-2575-missing-capability-http-400',
    'server-stateless/sep-2575-server-no-log-without-loglevel',
    'server-stateless/sep-2575-server-rejects-undeclared-capability',
    'tools-call-audio',
    'tools-call-elicitation',
    'tools-call-embedded-resource',
    'tools-call-error',
    'tools-call-image',
    'tools-call-mixed-content',
    'tools-call-sampling',
    'tools-call-simple-text',
    'tools-call-with-logging',
    'tools-call-with-progress',
  ],
  'It is of resources, logging or completion, which are optional; the capabilities name none of them.': [
    'caching/sep-2549-resources-list-caching-hints',
    'caching/sep-2549-resources-templates-list-caching-hints',
    'completion-complete',
    'logging-set-level',
    'resources-list',
    'resources-read-binary',
    'resources-read-text',
    'resources-subscribe',
    'resources-templates-read',
    'resources-unsubscribe',
    'sep-2164-resource-not-found',
  ],
  'It is of the tasks extension, which is optional; the capabilities do not name it.': [
    'tasks-capability-negotiation',
    'tasks-dispatch-and-envelope',
    'tasks-lifecycle',
    'tasks-mrtr-composition',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-request-state-removal',
    'tasks-required-task-error',
    'tasks-wire-fields',
  ],
  'It warns that there is no session or resumable stream: any replica answers any request.': [
    'server-sse-multiple-streams/server-sse-multiple-streams-session',
    'server-sse-polling',
  ],
};
const EXCUSED = new Set(Object.values(NOT_HERE).flat());

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

let tools: Tools;
let modules: string;

beforeAll(async () => {
  [tools, modules] = await Promise.all([
    serveTools({ open: true }),
    installNpm('mcp', join(import.meta.dirname, 'mcp')),
  ]);
});

afterAll(() => tools?.stop());

/** Runs a revision's suite; resolves to the checks of each scenario. */
async function runSuite(revision: string): Promise<Map<string, Check[]>> {
  const directory = tempDir();
  const program = join(modules, 'node_modules/conformance/dist/index.js');
  const args = ['server', '--url', `${tools.url}/mcp`, '--requirements', revision, '-o', directory];
  await run(process.execPath, [program, ...args], { env: environment(), timeoutMs: 240_000 });
  const named = readdirSync(directory).map((folder): [string, Check[]] => [
    folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
    JSON.parse(readFileSync(join(directory, folder, 'checks.json'), 'utf8')),
  ]);
  return new Map(named);
}

test.each([
  ['2025-11-25', 30],
  ['2026-07-28', 40],
])('all requirements of %s hold that need nothing of the suite’s own server', async (revision, scenarios) => {
  const results = await runSuite(revision);
  expect(results.size).toBeGreaterThan(scenarios);
  const broken = [...results].flatMap(([scenario, checks]) =>
    checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .filter(({ id }) => !EXCUSED.has(scenario) && !EXCUSED.has(`${scenario}/${id}`))
      .map(({ id, errorMessage }) => `${scenario}/${id}: ${errorMessage}`),
  );
  expect(broken).toEqual([]);
  // Every sent message has the revision's shape, excused or not.
  const shapes = [...results].flatMap(([scenario, checks]) =>
    checks.filter(({ id }) => id === 'wire-schema-valid').map(({ status }) => `${scenario} ${status}`),
  );
  expect(shapes.length).toBeGreaterThan(20);
  expect(shapes.filter((shape) => !shape.endsWith(' SUCCESS'))).toEqual([]);
});
