/**
 * Tests the whole product against the contract, and the client, built and used as the README shows it. test/system/contract runs the same
 * contract on our API server with a stand-in for the operator.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { productPlace } from '../kit/system/contract.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { ROOT } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { graphqlSuite } from '../system/contract/graphql.ts';
import { restSuite } from '../system/contract/rest.ts';
import { eventually, openScene } from '../system/contract/scene.ts';
import { makeProject, runProgram, typeErrors } from './client-package.ts';

let system: SharedSystem;
beforeAll(async () => {
  system = await shareSystem();
});

const product = productPlace(() => system);

describe('REST', () => restSuite(product));
describe('GraphQL', () => graphqlSuite(product));

test('the README’s program, with the built client from its node_modules, has its types checked and puts streams on air', async () => {
  const dir = tempDir();
  const scene = await openScene(product);
  onTestFinished(() => scene.target.stop());
  const { ask, made, wish, target, videoUploadObjectID } = scene;
  const { id } = await made('/streams', wish({ name: 'Ready', videoUploadObjectID }));
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const program = /```ts client\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? '';
  expect(program).toContain("from 'loopstream/client'");
  // A mistake in the program is the types' only error.
  const mistake = program.replace('id, name, status }', 'id, name, statuss }');
  await makeProject(dir, { 'program.ts': program, 'mistake.ts': mistake });
  expect(await typeErrors(dir)).toMatch(/^mistake\.ts\(\d+,\d+\): error TS2339: .*'statuss'.*\n$/);
  await eventually('it is ready', async () => (await ask('GET', `/streams/${id}/readiness`)).body.ready);
  const output = await runProgram(dir, 'program.ts', {
    PATH: process.env.PATH ?? '',
    API: target.base,
    KEY: target.key,
  });
  expect((await ask('GET', `/streams/${id}`)).body.status).toBe('live');
  const [first, ...others] = output.trim().split('\n');
  expect(first).toMatch(/^Ready: \w+$/);
  // The lines of the streams whose video never arrives: each has the fault and the next step.
  const names = others.flatMap((line) => /^(One|Two|Three): \w+$/.exec(line)?.[1] ?? []);
  expect(names).toEqual(['Three', 'Two', 'One']);
  const sentences = others.filter((line) => !/^\w+: \w+$/.test(line));
  expect(sentences.length).toBeGreaterThanOrEqual(names.length);
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\. .*\.$/);
  await ask('POST', `/streams/${id}/stop?wait=30`);
});
