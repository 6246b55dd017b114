/**
 * Serializes unchanged records, such as streams, once: a WeakMap keeps the text as long as the record. The bytes equal those of
 * JSON.stringify. Pure: no I/O, no clock.
 */
import { memoize } from '../../../core/lib/memoize.ts';

const writeText = memoize((record: object) => JSON.stringify(record));

/** `serializerCompiler` for a route that returns one record. */
export const compileRecordSerializer = () => writeText;

/** `serializerCompiler` for a route that returns a list of records (page.ts). */
export const compileListSerializer =
  () =>
  ({ data, page }: { data: readonly object[]; page: object }): string =>
    `{"data":[${data.map(writeText).join(',')}],"page":${JSON.stringify(page)}}`;
