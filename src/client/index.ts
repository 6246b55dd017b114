/**
 * The client of the API, for Node, browsers and whatever else has fetch: `import { createClient } from 'loopstream/client'`.
 * Of the server it shares types, the table of errors and a timer, and nothing that runs there alone.
 */
export type { Change } from '../account/change.ts';
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
} from '../account/record.ts';
export type { Billing, LedgerEntry, Usage, UsageAsked, UsageLine } from '../billing/record.ts';
export type { CryptoAsset, CryptoDeposit, CryptoDepositCreate, CryptoPayment } from '../crypto/record.ts';
export type { Destination, DestinationCreate, DestinationTest, DestinationUpdate } from '../destinations/record.ts';
export type { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from '../invoices/record.ts';
export type * from '../playlists/record.ts';
export type { LiveStats } from '../stats/record.ts';
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
} from '../streams/record.ts';
export type { TopUp, TopUpCreate } from '../topups/record.ts';
export type { Upload, UploadFromLink } from '../uploads/record.ts';
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
