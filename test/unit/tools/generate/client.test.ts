import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { Playlist, PlaylistCreate } from '../../../../src/service/domain/playlists/record.ts';
import {
  createOperationBuilder,
  deleted,
  type OperationDeclaration,
  page,
  record,
} from '../../../../src/service/lib/operation.ts';
import { PERSON } from '../../../../src/service/lib/scopes.ts';
import { clientFiles, nameMethod } from '../../../../tools/generate/client.ts';

const operation = createOperationBuilder({ tag: 'shows' });
const words = { scope: 'read', summary: 'Do it', description: 'It is done.' } as const;

const OPERATIONS = 'src/service/client/operations.ts';
const TYPES = 'src/service/client/types.ts';

test.each([OPERATIONS, TYPES])('%s matches the declarations of operations (fix with `make generate`)', async (path) => {
  const committed = readFileSync(join(import.meta.dirname, '../../../..', path), 'utf8');
  expect((await clientFiles()).get(path)).toBe(committed);
});

describe('the name of a method follows from the path and the id', () => {
  const name = (id: string, http: string, output: unknown = record(Playlist)) => {
    const { noun, method } = nameMethod({ id, http, output: output as OperationDeclaration['output'] });
    return noun === undefined ? method : `${noun}.${method}`;
  };
  test.each([
    ['getTopUp', 'GET /top-ups/{id}', 'topUps.get'],
    ['revokeTopUp', 'DELETE /top-ups/{id}', 'topUps.revoke'],
    ['skipStreamItem', 'POST /streams/{id}/skip', 'streams.skip'],
    ['getStreamLiveStats', 'GET /streams/{id}/live-stats', 'streams.liveStats'],
    ['listPlaylistVersions', 'GET /playlists/{id}/versions', 'playlists.versions'],
    ['createUploadFromLink', 'POST /uploads/from-link', 'uploads.fromLink'],
    ['getAddressBook', 'GET /address/book', 'address.book'],
  ])('%s, %s: %s', (id, http, expected) => expect(name(id, http)).toBe(expected));

  test('a record with a path of one segment belongs to no noun, a page does', () => {
    expect(name('getSignInOptions', 'GET /sign-in-options')).toBe('signInOptions');
    expect(name('listShows', 'GET /shows', page(Playlist, 'ShowList'))).toBe('shows.list');
  });
});

test('an operation that is declared is a method, with its types and its words', async () => {
  const files = await clientFiles([
    operation({
      ...words,
      id: 'scheduleShow',
      http: 'POST /shows/{id}/parts/{part}/schedule',
      path: { part: Type.Integer() },
      query: {
        mode: Type.Enum(['once', 'daily'], { default: 'once', description: 'How often.' }),
        day: Type.String(),
      },
      input: PlaylistCreate,
      output: record(Playlist),
      errors: ['conflict'],
    }),
  ]);
  expect(files.get(OPERATIONS)).toContain(`  shows: {
    /** Do it. It is done. It may reject with \`problems.Conflict\`. */
    schedule: (
      id: string,
      part: number,
      body: PlaylistCreate,
      query?: ScheduleQuery,
      call?: CallOptions,
    ) => Promise<Playlist>;
  };`);
  expect(files.get(OPERATIONS)).toContain(`  shows: {
    schedule: (id, part, body, query, call) =>
      post(path\`/shows/\${id}/parts/\${part}/schedule\`, { ...call, query }, body),
  },`);
  expect(files.get(TYPES)).toContain(`export interface ScheduleQuery {
  /** How often. */
  mode?: 'once' | 'daily';
  day: string;
}`);
  expect(files.get(TYPES)).toContain(`export type { Playlist, PlaylistCreate, Publication } from`);
});

test('a request of a person is not repeated, and one that waits has time for it', async () => {
  const files = await clientFiles([
    operation({ ...words, id: 'leaveShow', scope: PERSON, http: 'POST /shows/{id}/leave', output: deleted }),
    operation({
      ...words,
      id: 'startShow',
      http: 'POST /shows/{id}/start',
      query: { wait: Type.Optional(Type.Integer()) },
      output: record(Playlist),
    }),
    operation({
      ...words,
      id: 'tryShow',
      http: 'POST /shows/{id}/try',
      output: record(Playlist),
      client: { method: 'attempt', extraSeconds: 10 },
    }),
  ]);
  expect(files.get(OPERATIONS)).toContain(`  shows: {
    leave: (id, call) => post(path\`/shows/\${id}/leave\`, { maxRetries: 0, ...call }),
    start: (id, { wait, ...call } = {}) =>
      post(path\`/shows/\${id}/start\`, { ...call, query: { wait }, extraSeconds: wait }),
    attempt: (id, call) => post(path\`/shows/\${id}/try\`, { ...call, extraSeconds: 10 }),
  },`);
});

test('two operations cannot have one name, and the error names the second', async () => {
  const get = operation({ ...words, id: 'getShow', http: 'GET /shows/{id}', output: record(Playlist) });
  const again = operation({ ...words, id: 'getShows', http: 'GET /shows/all/of', output: record(Playlist) });
  await expect(clientFiles([get, again])).rejects.toThrow('Two operations are shows.get in the client: name getShows.');
});
