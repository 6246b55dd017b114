/**
 * Lists the scope that each operation requires: one table for REST, GraphQL and OpenAPI. An operation without an entry
 * cannot be registered, so none can be forgotten. Pure: no I/O, no clock.
 */
import { AppError } from './errors.ts';

export const SCOPES = ['read', 'write', 'destructive', 'billing'] as const;
export type Scope = (typeof SCOPES)[number];

/** Operations for a signed-in user only: no key and no program can have this scope. */
export const PERSON = 'person';

/** null: no authentication needed. */
export const OPERATION_SCOPES = {
  getStatus: null,
  getOpenApi: null,
  getMe: 'read',
  getLimits: 'read',
  getSignInOptions: null,
  createApiKey: PERSON,
  listApiKeys: PERSON,
  revokeApiKey: PERSON,
  listSessions: PERSON,
  endSession: PERSON,
  endOtherSessions: PERSON,
  listConnectedApps: PERSON,
  disconnectApp: PERSON,
  exportAccount: PERSON,
  deleteAccount: PERSON,
  watchChanges: 'read',
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
  getStreamSchedule: 'read',
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
  getUploadPreview: 'read',
  retryUpload: 'write',
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
  getBilling: 'billing',
  getUsage: 'billing',
  listLedgerEntries: 'billing',
  createTopUp: 'billing',
  listTopUps: 'billing',
  getTopUp: 'billing',
  listCryptoAssets: 'billing',
  createCryptoDeposit: 'billing',
  listCryptoDeposits: 'billing',
  getCryptoDeposit: 'billing',
  receiveStripeEvent: null,
  listInvoices: 'billing',
  getInvoice: 'billing',
  getInvoicePdf: 'billing',
  getBillingAddress: 'billing',
  updateBillingAddress: 'billing',
} as const satisfies Record<string, Scope | typeof PERSON | null>;

export type Operation = keyof typeof OPERATION_SCOPES;

export const isOperation = (name: string | undefined): name is Operation =>
  name !== undefined && Object.hasOwn(OPERATION_SCOPES, name);

/** Whether it only reads: of what has to do with money, which has one scope for all, its name tells. */
export const isReading = (operation: Operation): boolean => {
  const scope = OPERATION_SCOPES[operation];
  return scope === 'read' || (scope === 'billing' && /^(get|list)/.test(operation));
};

/** Whether only a person who has signed in may do it. */
export const isForPerson = (operation: string): boolean =>
  isOperation(operation) && (OPERATION_SCOPES[operation] as string | null) === PERSON;

/**
 * Reports whether requests may carry an idempotency key. Programs do not repeat requests of users, and some answers
 * there hold a secret.
 */
export const takesIdempotencyKey = (id: Operation, method: string): boolean => {
  const scope: string | null = OPERATION_SCOPES[id];
  return method === 'post' && scope !== null && scope !== PERSON;
};

/**
 * Operations that stay available while an account is suspended: read the profile and bills, export data, delete the
 * account.
 */
export const isOpenWhileSuspended = (operation: Operation): boolean =>
  ['getMe', 'getLimits', 'exportAccount', 'deleteAccount'].includes(operation) ||
  ((OPERATION_SCOPES[operation] as string | null) === 'billing' && isReading(operation));

/** The authenticated caller. An account is one user's for now; accounts own everything, so that teams can come. */
export interface Principal {
  accountId: string;
  userId: string;
  scopes: ReadonlySet<Scope>;
  /** The kind of credential: an API key, a program's access token, or the session of a signed-in user. */
  via: 'key' | 'token' | 'session';
  /** Set for a signed-in user. */
  sessionId?: string;
  /** Staff have locked the account. */
  isSuspended?: boolean;
}

/**
 * Throws `insufficient_scope` (403), naming the scope with its public prefix, or `person_required` (403) when the principal
 * may not do it; `account_suspended` (403) when staff have locked the account.
 */
export function requireScope(principal: Principal, operation: Operation, prefix: string): void {
  const scope = OPERATION_SCOPES[operation] as Scope | typeof PERSON | null;
  if (scope === null) return;
  if (principal.isSuspended && !isOpenWhileSuspended(operation))
    throw new AppError('account_suspended', 'The account is locked: ask the service’s support why.');
  if (scope === PERSON) {
    if (principal.via === 'session') return;
    throw new AppError('person_required', 'Only a person who has signed in may do this.');
  }
  if (principal.scopes.has(scope)) return;
  const name = `${prefix}:${scope}`;
  throw new AppError('insufficient_scope', `This needs the scope ${name}.`, { extras: { scope: name } });
}
