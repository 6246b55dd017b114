/** Writes crds/*.yaml. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../../src/core/resources/crd/crds.ts';

const HEADER = `# Made from the types in src/core/resources/ by \`npm run generate\`; a test fails when it differs from them.\n`;

/** File name → content. */
export const crdFiles = (): Map<string, string> =>
  new Map(
    customResourceDefinitions().map((crd) => [
      `${crd.spec.names.plural}.yaml`,
      HEADER + stringify(crd, { lineWidth: 120, aliasDuplicateObjects: false }),
    ]),
  );

/** Writes one file for each kind into `dir` and answers their paths. */
export async function generateCrds(dir: string): Promise<string[]> {
  await mkdir(dir, { recursive: true });
  const paths: string[] = [];
  for (const [name, text] of crdFiles()) {
    const path = join(dir, name);
    await writeFile(path, text);
    paths.push(path);
  }
  return paths;
}
