/**
 * What each operation asks of a principal: the one table that REST, GraphQL and OpenAPI read. An operation that is not
 * in it cannot be registered, so none can be forgotten.
 * Pure: no I/O, no clock.
 */
import { AppError } from '../errors.ts';

export const SCOPES = ['read', 'write', 'destructive', 'billing'] as const;
export type Scope = (typeof SCOPES)[number];

/** null: no authentication needed. */
export const OPERATION_SCOPES = {
  getStatus: null,
  getOpenApi: null,
  getMe: 'read',
  createStream: 'write',
  listStreams: 'read',
  getStream: 'read',
  updateStream: 'write',
  deleteStream: 'destructive',
  getStreamReadiness: 'read',
  startStream: 'write',
  stopStream: 'write',
  skipStreamItem: 'write',
  scheduleStream: 'write',
  unscheduleStream: 'write',
  getStreamLiveStats: 'read',
  getStreamPreview: 'read',
  listStreamEvents: 'read',
  createDestination: 'write',
  listDestinations: 'read',
  getDestination: 'read',
  updateDestination: 'write',
  deleteDestination: 'destructive',
  testDestination: 'write',
  createUploadFromLink: 'write',
  getResumableUploadOptions: null,
  createResumableUpload: 'write',
  getResumableUpload: 'write',
  appendToResumableUpload: 'write',
  cancelResumableUpload: 'write',
  listUploads: 'read',
  getUpload: 'read',
  deleteUpload: 'destructive',
  createPlaylist: 'write',
  listPlaylists: 'read',
  getPlaylist: 'read',
  updatePlaylist: 'write',
  changePlaylist: 'write',
  publishPlaylist: 'write',
  rollbackPlaylist: 'write',
  listPlaylistVersions: 'read',
  getPlaylistVersion: 'read',
  diffPlaylistVersion: 'read',
  deletePlaylist: 'destructive',
} as const satisfies Record<string, Scope | null>;

export type Operation = keyof typeof OPERATION_SCOPES;

export const isOperation = (name: string | undefined): name is Operation =>
  name !== undefined && Object.hasOwn(OPERATION_SCOPES, name);

/** Who is asking. An account is one user's for now; everything is owned by accounts, so that teams can come. */
export interface Principal {
  accountId: string;
  userId: string;
  scopes: ReadonlySet<Scope>;
}

/** Throws `insufficient_scope` (403), naming the scope with its public prefix, when the principal may not do it. */
export function requireScope(principal: Principal, operation: Operation, prefix: string): void {
  const scope = OPERATION_SCOPES[operation];
  if (scope === null || principal.scopes.has(scope)) return;
  throw new AppError('insufficient_scope', `This needs the scope ${prefix}:${scope}.`);
}
