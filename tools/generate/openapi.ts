/** Writes docs/openapi.json and docs/errors/. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { describeApi } from '../../src/service/server/openapi/describe.ts';
import type { OpenApi } from '../../src/service/server/openapi/document.ts';
import { errorFiles, listErrorDocs } from '../../src/service/server/openapi/errordocs.ts';
import { breakingChanges } from './breaking.ts';

/** Path below `docs` → content. */
export function apiFiles(doc: OpenApi): Map<string, string> {
  const errors = [...errorFiles(listErrorDocs(doc))].map(([name, text]) => [join('errors', name), text] as const);
  return new Map([['openapi.json', `${JSON.stringify(doc, null, 2)}\n`], ...errors]);
}

/** Throws when the routes, which `doc` describes, would break who uses the API that `docs` describes. */
async function refuseBreaks(docs: string, doc: OpenApi): Promise<void> {
  const snapshot = join(docs, 'openapi.json');
  if (!existsSync(snapshot)) return;
  const breaks = breakingChanges(JSON.parse(await readFile(snapshot, 'utf8')) as OpenApi, doc);
  if (breaks.length === 0) return;
  throw new ConfigError(
    'docs/openapi.json is unchanged, because the new routes would break clients: a version only grows. ' +
      `To accept them, delete the file and run again.\n  ${breaks.join('\n  ')}`,
  );
}

/** Writes into `docs`, takes pages of codes away that are no more, and answers the paths. */
export async function generateApi(docs: string): Promise<string[]> {
  const doc = await describeApi();
  await refuseBreaks(docs, doc);
  const files = apiFiles(doc);
  await mkdir(join(docs, 'errors'), { recursive: true });
  for (const name of await readdir(join(docs, 'errors')))
    if (!files.has(join('errors', name))) await rm(join(docs, 'errors', name));
  for (const [name, text] of files) await writeFile(join(docs, name), text);
  return [...files.keys()].map((name) => join(docs, name));
}
