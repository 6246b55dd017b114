/** `loopstream generate`: writes what is made from the types, so that the repository always shows what the code does. */
import { resolve } from 'node:path';
import { generateCrds } from './kube/generate.ts';

export async function generateCommand(): Promise<number> {
  const written = await generateCrds(resolve(import.meta.dirname, '../crds'));
  process.stdout.write(`${written.join('\n')}\n`);
  return 0;
}
