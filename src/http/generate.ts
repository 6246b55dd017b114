/** Writes docs/openapi.json and docs/errors/. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeApi } from './describe.ts';
import { errorDocsOf, errorFiles } from './errordocs.ts';

/** Path below `docs` → content. */
export async function apiFiles(): Promise<Map<string, string>> {
  const doc = await describeApi();
  const errors = [...errorFiles(errorDocsOf(doc))].map(([name, text]) => [join('errors', name), text] as const);
  return new Map([['openapi.json', `${JSON.stringify(doc, null, 2)}\n`], ...errors]);
}

/** Writes into `docs`, takes pages of codes away that are no more, and answers the paths. */
export async function generateApi(docs: string): Promise<string[]> {
  const files = await apiFiles();
  await mkdir(join(docs, 'errors'), { recursive: true });
  for (const name of await readdir(join(docs, 'errors')))
    if (!files.has(join('errors', name))) await rm(join(docs, 'errors', name));
  for (const [name, text] of files) await writeFile(join(docs, name), text);
  return [...files.keys()].map((name) => join(docs, name));
}
