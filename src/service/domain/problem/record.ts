/** Defines a problem as clients see it (RFC 9457). Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { ACCOUNT_CLASSES } from '../../settings/limits.ts';
import { ReadinessIssue } from '../streams/record.ts';

export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'Page that explains the code.' }),
    title: Type.String({ description: 'Short summary of the code.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    detail: Type.String({ description: 'Explanation of this occurrence.' }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { description: 'Stable code. Branch on it.' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description:
          'With validation_failed, link_forbidden and destination_forbidden: each field or parameter that is wrong, by its JSON pointer (RFC 6901).',
      }),
    ),
    issues: Type.Optional(
      Type.Array(ReadinessIssue, { description: 'With stream_not_ready: what keeps the stream from starting.' }),
    ),
    streamIDs: Type.Optional(
      Type.Array(Type.String(), { description: 'With a code that ends in _in_use: the streams that use it.' }),
    ),
    playlistIDs: Type.Optional(
      Type.Array(Type.String(), { description: 'With upload_in_use and playlist_in_use: the playlists that play it.' }),
    ),
    sceneIDs: Type.Optional(Type.Array(Type.String(), { description: 'With upload_in_use: the scenes that show it.' })),
    scope: Type.Optional(Type.String({ description: 'With insufficient_scope: the scope that is missing.' })),
    limit: Type.Optional(
      Type.String({ description: 'With quota_exceeded and other limits of an account: its name in `GET /v1/limits`.' }),
    ),
    used: Type.Optional(Type.Number({ description: 'With `limit`: what the account has of it.' })),
    allowed: Type.Optional(Type.Number({ description: 'With `limit`: what it may have.' })),
    class: Type.Optional(
      Type.Enum(ACCOUNT_CLASSES, { title: 'AccountClass', description: 'With `limit`: the class of the account.' }),
    ),
    retryAfterSeconds: Type.Optional(
      Type.Integer({ description: 'Where a flow is limited: when to try again, as `Retry-After` says too.' }),
    ),
    currentVersion: Type.Optional(
      Type.Integer({
        description: 'With a code that ends in _version_conflict: the version that the playlist or scene has by now.',
      }),
    ),
  },
  { title: 'Problem' },
);
export type Problem = Static<typeof Problem>;
