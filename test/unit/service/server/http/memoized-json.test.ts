import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compileListSerializer,
  compileRecordSerializer,
} from '../../../../../src/service/server/http/memoized-json.ts';

const records = fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { minKeys: 1 }));
const pages = fc.record({ hasMore: fc.boolean(), nextCursor: fc.option(fc.string({ unit: 'binary' })) });

test('the cached text of a record or a list equals JSON.stringify, the first time and each time after', () => {
  fc.assert(
    fc.property(records, pages, (data, page) => {
      for (const _ of [1, 2]) {
        expect(compileListSerializer()({ data, page })).toBe(JSON.stringify({ data, page }));
        for (const record of data) expect(compileRecordSerializer()(record)).toBe(JSON.stringify(record));
      }
    }),
  );
});
