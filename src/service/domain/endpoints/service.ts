/** Creates, changes, verifies and tests endpoints, and lists and repeats their deliveries. */
import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import { brokenRule, DISPLAY_NAME } from '../../../core/lib/sentences.ts';
import { findLinkRefusal } from '../../../core/resources/upload/link.ts';
import type { Db } from '../../db/pool.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { Connection, FilteredArgs, ListArgs } from '../../lib/list-page.ts';
import { connectAll, type Listing, numberKey } from '../../lib/paging/ordered.ts';
import { pageRows } from '../../lib/paging/rows.ts';
import type { Principal } from '../../lib/scopes.ts';
import { createTokenBuckets } from '../../lib/token-buckets.ts';
import { listReceivedTypes, RECORDED_TYPES } from '../events/record.ts';
import { newId } from '../limits/owned-resources.ts';
import { checkTemplate } from './alerts/template.ts';
import { ENDPOINT_LIST } from './list.ts';
import { describeAnswer, judge, summarize } from './outcome.ts';
import {
  DEFAULT_RULE,
  type Delivery,
  type DeliveryAnswer,
  type DeliveryState,
  type Endpoint,
  type EndpointCreate,
  type EndpointKind,
  type EndpointRecovery,
  type EndpointSecret,
  type EndpointState,
  type EndpointTest,
  type EndpointUpdate,
} from './record.ts';
import type { EndpointSender, EndpointSenders } from './senders.ts';
import { deriveSecret } from './signing.ts';
import type { DeliveryRow, EndpointRow } from './store.ts';
import * as store from './store.ts';
import { findHost, hideSecrets } from './target.ts';

/** Endpoints of an account. */
export const MAX_ENDPOINTS = 20;
/** Codes and tests that an account may have sent in a minute: each is a request to somebody who may not want it. */
export const POSTS_PER_MINUTE = 10;
/** Codes and tests that a host may get in a minute, from all accounts that use this server: many accounts may mean the same victim. */
export const POSTS_PER_HOST_AND_MINUTE = 60;
/** Tries of a code, after which another one has to be sent. */
const MAX_TRIES = 5;
const CODE_DIGITS = 8;
/** How long both secrets are valid after a rotation. */
const OVERLAP_SECONDS = 24 * 3600;

/** Deliveries of an endpoint that are listed: the latest. */
const MAX_LISTED = 1_000;

export type DeliveryOrder = 'number';

const listingOf = (id: string): Listing<Delivery, DeliveryOrder> => ({
  list: `deliveries.${id}`,
  getId: ({ number }) => String(number),
  keys: { number: ({ number }) => numberKey(number) },
  standard: { by: 'number', descending: true },
});

/** The account that asks, and the events that it may see. */
type Reader = Pick<Principal, 'accountId' | 'userId' | 'scopes'>;

export interface EndpointsDeps {
  db: Db;
  senders: EndpointSenders;
  /** Of this installation: the secrets of endpoints follow from it. */
  secret: string;
  allowPrivate: boolean;
  /** Whether a user has confirmed this address as their own. */
  isOwnEmail: (userId: string, address: string) => Promise<boolean>;
  clock?: Clock;
}

export type EndpointService = ReturnType<typeof createEndpointService>;

/** Without quotes and comments, by which one mailbox would have many spellings, and a budget for each. */
const MAIL_ADDRESS = /^[^\s@"(),:;<>[\\\]\p{Cc}]+@[^\s@"(),:;<>[\\\]\p{Cc}]+$/u;

const makeCode = (): string => String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');

const notFound = (id: string) =>
  new AppError('endpoint_not_found', `No endpoint of this account has the id ${id.slice(0, 100)}.`);

const show = (row: EndpointRow): Endpoint => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  labels: row.labels,
  target: hideSecrets(row.kind, row.target),
  state: row.state,
  disabledCode: row.disabledCode,
  types: row.hasAllTypes ? [] : row.types,
  objectIDs: row.objectIds ?? [],
  rule: row.rule,
  previousSecretUntil: row.previousSecretUntil?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});

const showAnswer = (answer: Omit<DeliveryAnswer, 'message' | 'fix' | 'at'>, at: Date): DeliveryAnswer => ({
  ...answer,
  ...describeAnswer(answer.code, answer.status),
  at: at.toISOString(),
});

const showDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  number: Number(row.position),
  messageID: row.messageId,
  type: row.type,
  state: row.state,
  attempts: row.attempts,
  createdAt: row.createdAt.toISOString(),
  nextAttemptAt: row.state === 'waiting' ? row.nextAt.toISOString() : null,
  lastAnswer:
    row.answeredAt === null
      ? null
      : showAnswer(
          { status: row.answerStatus, body: row.answerBody, code: row.answerCode, tookMs: row.tookMs ?? 0 },
          row.answeredAt,
        ),
});

/**
 * Whether a receiver has answered with the code alone, as text or as JSON with `code`. A server that returns what it was sent has
 * not: it may be anybody's.
 */
export function confirms(code: string, body: string | undefined): boolean {
  const text = (body ?? '').trim();
  if (text === code || text === JSON.stringify(code)) return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'code' in value && value.code === code;
  } catch {
    return false;
  }
}

export function createEndpointService(deps: EndpointsDeps) {
  const { db, senders, secret, allowPrivate, isOwnEmail, clock = systemClock } = deps;
  const posts = createTokenBuckets(POSTS_PER_MINUTE, clock);
  const hostPosts = createTokenBuckets(POSTS_PER_HOST_AND_MINUTE, clock);

  async function find(accountId: string, id: string): Promise<EndpointRow> {
    const row = await store.findEndpoint(db, accountId, id);
    if (!row) throw notFound(id);
    return row;
  }

  const takePost = (accountId: string, endpoint: Pick<EndpointRow, 'kind' | 'target'>): void => {
    if (posts.getLevel(accountId) < 1)
      throw new AppError(
        'rate_limited',
        `An account may have ${POSTS_PER_MINUTE} codes and tests a minute sent to its endpoints. Try again in a minute.`,
        { extras: { retryAfterSeconds: 60 } },
      );
    // Each mailbox has a budget of its own.
    if (endpoint.kind !== 'mail') {
      const host = findHost(endpoint);
      if (hostPosts.getLevel(host) < 1)
        throw new AppError(
          'rate_limited',
          `The host ${host.slice(0, 100)} got too many codes and tests, from all accounts together. Try again in a minute.`,
          { extras: { retryAfterSeconds: 60 } },
        );
      hostPosts.take(host, 1);
    }
    posts.take(accountId, 1);
  };

  const findSender = (kind: EndpointKind): EndpointSender => {
    const sender = senders[kind];
    if (sender) return sender;
    throw validationFailed([
      {
        path: '/kind',
        message: kind === 'mail' ? 'needs a mail server, which this installation lacks' : 'is not available',
      },
    ]);
  };

  /** The address of a request. Throws `endpoint_forbidden`. */
  function readTarget(kind: EndpointKind, { url, address }: Pick<EndpointCreate, 'url' | 'address'>): string {
    const [wanted, field, other] = kind === 'mail' ? [address, '/address', url] : [url, '/url', address];
    if (wanted === undefined) throw validationFailed([{ path: field, message: `is required for the kind ${kind}` }]);
    if (other !== undefined)
      throw validationFailed([
        { path: kind === 'mail' ? '/url' : '/address', message: `does not belong to the kind ${kind}` },
      ]);
    const entered = wanted.trim();
    if (entered.includes('…'))
      throw validationFailed([{ path: field, message: 'has a part that is hidden (…): enter the whole address' }]);
    if (kind === 'mail') {
      if (!MAIL_ADDRESS.test(entered))
        throw validationFailed([{ path: field, message: 'must be a mail address such as ann@example.com' }]);
      return entered;
    }
    const broken = brokenRule(DISPLAY_NAME, entered);
    if (broken !== undefined) throw validationFailed([{ path: field, message: broken }]);
    const parsed = URL.parse(entered);
    if (!parsed || !/^https?:$/.test(parsed.protocol))
      throw validationFailed([{ path: field, message: 'must be an address that begins with https:// or http://' }]);
    const refusal = findLinkRefusal(parsed, allowPrivate);
    if (refusal !== undefined) throw new AppError('endpoint_forbidden', refusal);
    // Its placeholders stay as they are.
    return kind === 'template' ? entered : parsed.href;
  }

  const readTemplate = (kind: EndpointKind, url: string, template: EndpointUpdate['template']) => {
    if (kind === 'template') {
      const problems = checkTemplate({ url, ...template });
      if (problems.length > 0) throw validationFailed(problems);
      return template ?? null;
    }
    if (template !== undefined)
      throw validationFailed([{ path: '/template', message: 'belongs to the kind template' }]);
    return null;
  };

  /** Sends the code, and says whether the receiver has confirmed it by its answer. */
  async function sendCode(row: EndpointRow): Promise<EndpointRow> {
    const code = makeCode();
    const asked = await store.updateEndpoint(db, row.accountId, row.id, { state: 'unverified', code, codeTries: 0 });
    if (!asked) throw notFound(row.id);
    const at = clock.now();
    const message = {
      id: newId('msg'),
      at,
      body: { type: 'endpoint.verification', timestamp: at.toISOString(), data: { endpointID: row.id, code } },
    };
    const { status = 0, body } = await findSender(row.kind)(asked, message);
    if (row.kind !== 'webhook' || status >= 300 || !confirms(code, body)) return asked;
    return (await activate(asked, code)) ?? (await find(row.accountId, row.id));
  }

  /** The state of an endpoint for a target that is new to it. Takes the place of the request with the code, before anything is written. */
  async function findFirstState(kind: EndpointKind, target: string, asker: Reader): Promise<EndpointState> {
    if (kind === 'mail' && (await isOwnEmail(asker.userId, target))) return 'active';
    takePost(asker.accountId, { kind, target });
    return 'unverified';
  }

  const sendFirstCode = async (row: EndpointRow): Promise<EndpointRow> =>
    row.state === 'unverified' ? sendCode(row) : row;

  /** Undefined where this is not the code of its target any more. */
  const activate = ({ accountId, id }: EndpointRow, code: string) =>
    store.updateEndpoint(
      db,
      accountId,
      id,
      { state: 'active', disabledCode: null, code: null, codeTries: 0 },
      { state: 'unverified', code },
    );

  /** Enables or disables it, unless its receiver has to confirm a code first. */
  const enable = ({ accountId, id }: EndpointRow, isEnabled: boolean) =>
    isEnabled
      ? store.updateEndpoint(db, accountId, id, { state: 'active', disabledCode: null }, { state: 'disabled' })
      : store.updateEndpoint(db, accountId, id, { state: 'disabled', disabledCode: 'by_request' }, { state: 'active' });

  /**
   * An endpoint that was ever told of money stays one that is: what was sent can be sent again, so a caller who may not see it must not
   * lead it elsewhere.
   */
  const chooseTypes = (kind: EndpointKind, { types = [] }: EndpointUpdate, asker: Reader, before?: EndpointRow) => {
    const wasTold = before?.withBilling ?? false;
    const named = types.length > 0 ? types : undefined;
    const scopes = wasTold && !named ? new Set([...asker.scopes, 'billing' as const]) : asker.scopes;
    const unknown = kind === 'webhook' ? undefined : types.find((type) => !RECORDED_TYPES.includes(type));
    if (unknown)
      throw validationFailed([{ path: '/types', message: `must not name ${unknown}, which webhooks alone are told` }]);
    const received = listReceivedTypes(scopes, named);
    if (named && received.length < named.length)
      throw new AppError('insufficient_scope', 'The types of events of billing need the scope billing.', {
        extras: { scope: 'billing' },
      });
    const isTold = listReceivedTypes(new Set(['read']), received).length < received.length;
    return { types: received, hasAllTypes: named === undefined, withBilling: wasTold || isTold };
  };

  /** Null for all. */
  const listObjects = ({ objectIDs = [] }: EndpointUpdate) => (objectIDs.length > 0 ? objectIDs : null);

  const completeRule = (kind: EndpointKind, rule: EndpointUpdate['rule'], before: EndpointRow['rule'] = null) => {
    if (kind !== 'webhook') return { ...DEFAULT_RULE, ...before, ...rule };
    if (rule !== undefined)
      throw validationFailed([{ path: '/rule', message: 'is for people: a webhook gets each event' }]);
    return null;
  };

  async function findWebhook(accountId: string, id: string): Promise<EndpointRow> {
    const row = await find(accountId, id);
    if (row.kind === 'webhook') return row;
    throw new AppError('endpoint_has_no_secret', 'Messages to people are not signed: only webhooks have a secret.');
  }

  const showSecret = ({ id, secretVersion, previousSecretUntil }: EndpointRow): EndpointSecret => ({
    secret: deriveSecret(secret, id, secretVersion),
    previousSecretUntil: previousSecretUntil?.toISOString() ?? null,
  });

  return {
    /** Throws `endpoint_forbidden` and `quota_exceeded`. */
    async create(asker: Reader, input: EndpointCreate): Promise<Endpoint> {
      const { accountId } = asker;
      const { kind } = input;
      findSender(kind);
      const target = readTarget(kind, input);
      const template = readTemplate(kind, target, input.template);
      const chosen = chooseTypes(input.kind, input, asker);
      const rule = completeRule(kind, input.rule);
      const row = await store.insertEndpoint(
        db,
        {
          id: currentIntent()?.newId('end') ?? newId('end'),
          accountId,
          kind,
          name: input.name ?? hideSecrets(kind, target),
          labels: input.labels ?? {},
          target,
          template,
          ...chosen,
          objectIds: listObjects(input),
          rule,
          state: await findFirstState(kind, target, asker),
          code: null,
        },
        MAX_ENDPOINTS,
      );
      if (typeof row === 'number')
        throw new AppError(
          'quota_exceeded',
          `The account may have ${MAX_ENDPOINTS} endpoints, and has ${row}. Delete endpoints that are no longer needed.`,
          { extras: { limit: 'endpoints', used: row, allowed: MAX_ENDPOINTS } },
        );
      return show(await sendFirstCode(row));
    },

    async list(
      accountId: string,
      args: FilteredArgs,
      where?: (endpoint: Endpoint) => boolean,
    ): Promise<Connection<Endpoint>> {
      const rows = await store.listEndpoints(db, accountId);
      return pageRows(rows, args, { name: 'endpoints', list: ENDPOINT_LIST, now: clock.now(), show, where });
    },

    get: async (accountId: string, id: string): Promise<Endpoint> => show(await find(accountId, id)),

    /** Another address has to be verified again. Throws `endpoint_forbidden`. */
    async update(asker: Reader, id: string, input: EndpointUpdate): Promise<Endpoint> {
      const { accountId } = asker;
      const row = await find(accountId, id);
      const entered = input.url ?? input.address;
      // Callers send back what they were shown.
      const isSame = entered === undefined || entered.trim() === hideSecrets(row.kind, row.target);
      const target = isSame ? row.target : readTarget(row.kind, input);
      const template = readTemplate(row.kind, target, input.template ?? row.template ?? undefined);
      // The body of a request may name its receiver too.
      const isElsewhere = target !== row.target || !isDeepStrictEqual(template, row.template);
      if (isElsewhere && row.withBilling && !asker.scopes.has('billing'))
        throw new AppError(
          'insufficient_scope',
          'This endpoint is told of events of billing, so another address for it needs the scope billing.',
          { extras: { scope: 'billing' } },
        );
      const patch: store.EndpointPatch = {
        ...(input.name !== undefined && { name: input.name }),
        ...(input.labels !== undefined && { labels: input.labels }),
        ...(input.types !== undefined && chooseTypes(row.kind, input, asker, row)),
        ...(input.objectIDs !== undefined && { objectIds: listObjects(input) }),
        rule: completeRule(row.kind, input.rule, row.rule),
        // In one write: a target has the state that belongs to it, whatever other requests do meanwhile.
        ...(isElsewhere && {
          target,
          template,
          state: await findFirstState(row.kind, target, asker),
          disabledCode: null,
          code: null,
        }),
      };
      const changed = await store.updateEndpoint(db, accountId, id, patch);
      if (!changed) throw notFound(id);
      if (isElsewhere) return show(await sendFirstCode(changed));
      if (input.enabled === undefined) return show(changed);
      return show((await enable(changed, input.enabled)) ?? changed);
    },

    async delete(accountId: string, id: string): Promise<void> {
      if (!(await store.deleteEndpoint(db, accountId, id))) throw notFound(id);
    },

    /** Without a code, another one is sent. Throws `endpoint_code_wrong`. */
    async verify(accountId: string, id: string, code: string | undefined): Promise<Endpoint> {
      const row = await find(accountId, id);
      if (row.state !== 'unverified') return show(row);
      if (code === undefined) {
        takePost(accountId, row);
        return show(await sendCode(row));
      }
      const sent = await store.takeTry(db, id, MAX_TRIES);
      if (sent === undefined)
        throw new AppError('endpoint_code_wrong', 'Codes were tried too often. Have another one sent.');
      const active = code.replaceAll(/\D/g, '') === sent ? await activate(row, sent) : undefined;
      if (!active) throw new AppError('endpoint_code_wrong', 'This is not the code that was sent last.');
      return show(active);
    },

    /** Sends one message now, and waits for the answer. Throws `endpoint_not_active` and `rate_limited`. */
    async test(accountId: string, id: string): Promise<EndpointTest> {
      const row = await find(accountId, id);
      if (row.state === 'unverified')
        throw new AppError('endpoint_not_active', 'Nothing is sent there until the receiver has confirmed its code.');
      takePost(accountId, row);
      const at = clock.now();
      const body = { type: 'endpoint.test', timestamp: at.toISOString(), data: { endpointID: id } };
      const attempt = await findSender(row.kind)(row, { id: newId('msg'), at, body });
      const { state } = judge(attempt, { attempts: 0, ageMs: 0 });
      return { ok: state === 'delivered', answer: showAnswer(summarize(attempt), clock.now()) };
    },

    async secret(accountId: string, id: string): Promise<EndpointSecret> {
      return showSecret(await findWebhook(accountId, id));
    },

    /** Requests are signed with the previous secret as well, for a day. */
    async rotateSecret(accountId: string, id: string): Promise<Endpoint> {
      await findWebhook(accountId, id);
      const row = await store.rotateSecret(db, accountId, id, OVERLAP_SECONDS);
      if (!row) throw notFound(id);
      return show(row);
    },

    /** Sends again what failed since then, and what happened while the endpoint was disabled. */
    async recover(accountId: string, id: string, since: string): Promise<EndpointRecovery> {
      const row = await find(accountId, id);
      if (row.state !== 'active')
        throw new AppError('endpoint_not_active', 'Nothing is sent there now. Verify or enable the endpoint first.');
      return { count: await store.recover(db, row, new Date(since)) };
    },

    /** The latest ones, the newest first unless `args` says otherwise. */
    async deliveries(
      asker: Reader,
      id: string,
      args: ListArgs<DeliveryOrder>,
      {
        state,
        where,
      }: { state?: DeliveryState | undefined; where?: ((delivery: Delivery) => boolean) | undefined } = {},
    ): Promise<Connection<Delivery>> {
      await find(asker.accountId, id);
      const rows = await store.readDeliveries(db, id, state, MAX_LISTED);
      const seen = rows.filter(({ type }) => listReceivedTypes(asker.scopes, [type]).length > 0);
      return connectAll(listingOf(id), seen.map(showDelivery), args, where);
    },

    /** Sends a delivery again, with the same id. Throws `delivery_not_found`. */
    async replay(accountId: string, id: string, deliveryId: string): Promise<Delivery> {
      const endpoint = await find(accountId, id);
      if (endpoint.state !== 'active')
        throw new AppError('endpoint_not_active', 'Nothing is sent there now. Verify or enable the endpoint first.');
      const row = await store.replay(db, id, deliveryId);
      if (!row)
        throw new AppError(
          'delivery_not_found',
          `The endpoint has no delivery ${deliveryId.slice(0, 100)}. Deliveries are kept for seven days.`,
        );
      return showDelivery(row);
    },
  };
}
