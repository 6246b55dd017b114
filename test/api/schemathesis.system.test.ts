/**
 * An independent program reads the description and asks the API what it allows and what it does not (schemathesis, all its
 * checks): every operation with the examples, with each bound and just beyond, with whatever it makes up, and from what was
 * created on to what can be done with it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureSchemathesis } from '../support/schemathesis/program.ts';
import { standIn } from '../support/standin.ts';
import { type StreamsApi, startStreamsApi } from '../support/streams.ts';

const FILES = join(import.meta.dirname, '../support/schemathesis');
const SECONDS = 80;

let started: StreamsApi;
let program: string;
let dir: string;
const over = new AbortController();

beforeAll(async () => {
  program = await ensureSchemathesis();
  dir = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  started = await startStreamsApi();
  await standIn(started.api, over.signal);
}, 300_000);

afterAll(async () => {
  over.abort();
  await started?.api.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Runs it in an environment without secrets of ours; answers its exit status and all it said. */
async function schemathesis(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, ['--config-file', join(FILES, 'schemathesis.toml'), 'run', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', PYTHONDONTWRITEBYTECODE: '1', ...env },
    // It leaves files where it is.
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

test(
  'schemathesis finds nothing: all checks, both kinds of data, authenticated, stateful',
  async () => {
    const { api, ada, destinationID, videoUploadObjectID, audioUpload, videoList, audioList } = started;
    const ids = { destinationID, videoUploadObjectID, audioUploadObjectID: audioUpload, videoList, audioList };
    const { code, output } = await schemathesis(
      [
        `${api.url}/v1/openapi.json`,
        ...['--url', api.url],
        ...['--phases', 'examples,coverage,fuzzing,stateful', '--mode', 'all', '--checks', 'all'],
        ...['--max-examples', '5', '--max-time', String(SECONDS), '--seed', '6', '--no-color'],
      ],
      {
        SCHEMATHESIS_HOOKS: 'hooks',
        PYTHONPATH: FILES,
        SCHEMATHESIS_IDS: JSON.stringify(ids),
        SCHEMATHESIS_API_KEY: ada.key,
      },
    );
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output).toMatch(/Tested: 2\d|Tested: [3-9]\d/);
  },
  (SECONDS + 120) * 1000,
);
