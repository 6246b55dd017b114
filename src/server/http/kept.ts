/**
 * The JSON of what is shown again and again, such as streams that do not change: the text of a record is made once, and kept
 * for as long as the record itself is. The bytes are those of JSON.stringify. Pure: no I/O, no clock.
 */
import { memoize } from '../../lib/memoize.ts';

const writeText = memoize((record: object) => JSON.stringify(record));

/** For the `serializerCompiler` of a route that answers one record. */
export const kept = () => writeText;

/** For that of one that answers a list of records (page.ts). */
export const keptList =
  () =>
  ({ data, page }: { data: readonly object[]; page: object }): string =>
    `{"data":[${data.map(writeText).join(',')}],"page":${JSON.stringify(page)}}`;
