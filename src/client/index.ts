/**
 * The client of the API, for Node, browsers and whatever else has fetch: `import { createClient } from 'loopstream/client'`.
 * Of the server it shares types, the table of errors and a timer, and nothing that runs there alone.
 */

export type { TopUp, TopUpCreate } from '../billing/cards/record.ts';
export type { CryptoAsset, CryptoDeposit, CryptoDepositCreate, CryptoPayment } from '../billing/crypto/record.ts';
export type { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from '../billing/invoices/record.ts';
export type { Billing, LedgerEntry, Usage, UsageAsked, UsageLine } from '../billing/ledger/record.ts';
export type {
  AccountDelete,
  AccountLimits,
  ApiKey,
  ApiKeyCreate,
  ConnectedApp,
  CreatedApiKey,
  PersonSession,
  SignInOptions,
  User,
} from '../domain/accounts/record.ts';
export type {
  Destination,
  DestinationCreate,
  DestinationTest,
  DestinationUpdate,
} from '../domain/destinations/record.ts';
export type * from '../domain/playlists/record.ts';
export type { LiveStats } from '../domain/stats/record.ts';
export type {
  Readiness,
  ReadinessIssue,
  Stream,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from '../domain/streams/record.ts';
export type { Upload, UploadFromLink } from '../domain/uploads/record.ts';
export type { Change } from '../lib/paging/change.ts';
export {
  type Client,
  createClient,
  type ListQuery,
  type StartOptions,
  type Status,
  type StreamQuery,
  type WaitOptions,
} from './client.ts';
export type { FeedNews } from './feed.ts';
export type { List, Page } from './list.ts';
export { ConnectionError, LoopstreamError, ProblemError, problems } from './problem.ts';
export type { CallOptions, ClientOptions } from './send.ts';
