/**
 * The client of the API, for Node, browsers and whatever else has fetch: `import { createClient } from 'loopstream/client'`.
 * Of the server it shares types, the table of errors and a timer, and nothing that runs there alone.
 */

export type { UsageAsked } from '../billing/ledger/record.ts';
export type { Change } from '../lib/paging/change.ts';
export { type Client, createClient } from './client.ts';
export type { WatchEventsQuery } from './events.ts';
export type { FeedNews } from './feed.ts';
export type { List, Page } from './list.ts';
export { ConnectionError, LoopstreamError, ProblemError, problems } from './problem.ts';
export type { ListQuery } from './requests.ts';
export type { CallOptions, ClientOptions, TrialOptions, WaitOptions } from './send.ts';
export type * from './types.ts';
export {
  type EndpointMessage,
  verifyWebhook,
  WebhookError,
  type WebhookHeaders,
  type WebhookMessage,
} from './webhook.ts';
