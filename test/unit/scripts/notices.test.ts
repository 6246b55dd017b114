/** Tests the notices of bundled packages: all packages of a bundle, each with the text of its licence. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildApp } from '../../../scripts/build-app.ts';
import { mergeNotices, packageFolders, readNotice, writeNotices } from '../../../scripts/notices.ts';

test('every package in the roles is named with the text of its licence, and none without', async () => {
  const { inputs } = await buildApp();
  const folders = packageFolders(Object.keys(inputs));
  expect(folders.length).toBeGreaterThan(200);
  const text = writeNotices(folders);
  for (const folder of folders) {
    const { name, version, licence, text: own } = readNotice(folder);
    expect(text).toContain(`\n${name} ${version} (${licence})\n`);
    expect(text).toContain(own);
    expect(own, name).toMatch(/copyright|permission|licen[cs]e|public domain/i);
    expect(own.length, name).toBeGreaterThan(200);
  }
  for (const path of Object.keys(inputs).filter((input) => input.includes('node_modules/')))
    expect(
      folders.some((folder) => path.includes(`${folder}/`)),
      path,
    ).toBe(true);
});

test('notices of several bundles are one text, with each package once', () => {
  const [fastify, pino, typebox] = ['fastify', 'pino', 'typebox'].map((name) => join('node_modules', name));
  const all = mergeNotices([writeNotices([fastify ?? '', pino ?? '']), writeNotices([typebox ?? '', pino ?? ''])]);
  expect(all).toBe(writeNotices([fastify ?? '', pino ?? '', typebox ?? '']));
  expect(all.match(/^pino \d/gm)).toHaveLength(1);
});

test('files without a package have no notice', () => {
  expect(packageFolders(['src/main.ts', '\0rolldown/runtime.js', 'node_modules/fastify/fastify.js?commonjs'])).toEqual([
    'node_modules/fastify',
  ]);
});
