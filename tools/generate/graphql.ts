/** Writes docs/schema.graphql. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { buildSchema, findBreakingChanges } from 'graphql';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { schemaDocument } from '../../src/service/server/graphql/schema.ts';

/** Lists the changes in `present` that break a client of `committed`, both in the schema definition language. */
export const schemaBreaks = (committed: string, present: string): string[] =>
  findBreakingChanges(buildSchema(committed), buildSchema(present)).map(({ description }) => description);

/** Throws when the schema would break a client of the one that `path` has. */
export async function generateSchema(path: string): Promise<void> {
  const present = schemaDocument();
  const breaks = existsSync(path) ? schemaBreaks(await readFile(path, 'utf8'), present) : [];
  if (breaks.length > 0)
    throw new ConfigError(
      `${path} is unchanged, because the new schema would break clients. To accept it, delete the file and run again.\n  ` +
        breaks.join('\n  '),
    );
  await writeFile(path, present);
}
