/** Lists what pictures are kept of: every page of the dashboard, and its forms, questions and states. */
import type { Page } from 'playwright-core';
import { degraded, live, playlist, streams } from './account.ts';
import { away, EMPTY, later } from './answers.ts';
import type { Visit } from './open.ts';

export interface Look extends Visit {
  name: string;
  /** As it is on paper. */
  isPrinted?: boolean;
  /** Runs on the page before the picture. */
  act?: (page: Page) => Promise<unknown>;
}

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

/** A page asks a second time before it gives up. */
const failed = (page: Page) => page.getByRole('button', { name: 'Try again' }).waitFor();

const CONSENT = new URLSearchParams({
  ...{ client_id: 'kWcQy3TzVbNfRpLs', redirect_uri: 'http://127.0.0.1:4567/callback', sig: 'none' },
  scope: 'service:read service:write service:manage offline_access',
});

const OPEN: Look[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'sign-up', path: '/sign-up' },
  { name: 'check-mail', path: '/check-mail' },
  { name: 'verify', path: '/verify#token=none' },
  { name: 'forgot-password', path: '/forgot-password' },
  { name: 'reset-password', path: '/reset-password#token=none' },
].map((look) => ({ ...look, isOpen: true }));

const idle = streams.find(({ status }) => status === 'idle') ?? live;

const OF_STREAMS: Look[] = [
  { name: 'overview', path: '/' },
  { name: 'overview-empty', path: '/', answers: EMPTY },
  { name: 'streams', path: '/streams' },
  { name: 'streams-empty', path: '/streams', answers: EMPTY },
  { name: 'streams-loading', path: '/streams', answers: { listStreams: later } },
  { name: 'streams-away', path: '/streams', answers: { listStreams: away }, act: failed },
  { name: 'streams-not-found', path: '/streams?q=nothing+is+called+this' },
  { name: 'stream', path: `/streams/${live.id}` },
  { name: 'stream-printed', path: `/streams/${live.id}`, isPrinted: true },
  { name: 'stream-degraded', path: `/streams/${degraded.id}` },
  { name: 'stream-idle', path: `/streams/${idle.id}` },
  { name: 'stream-missing', path: '/streams/str-none' },
  { name: 'stream-edit', path: `/streams/${live.id}?form=edit` },
  {
    name: 'stream-schedule',
    path: `/streams/${idle.id}?form=schedule`,
    act: (page) => page.getByLabel('On days').check(),
  },
  { name: 'stream-stop', path: `/streams/${live.id}`, act: press(/^Stop /) },
  { name: 'create', path: '/create' },
  { name: 'create-empty', path: '/create', answers: EMPTY },
  { name: 'create-progress', path: `/create?stream=${live.id}` },
];

const OF_MEDIA: Look[] = [
  { name: 'uploads', path: '/uploads' },
  { name: 'uploads-empty', path: '/uploads', answers: EMPTY },
  { name: 'upload-link', path: '/uploads?form=link' },
  { name: 'upload-delete', path: '/uploads', act: press(/^Delete /) },
  { name: 'playlists', path: '/playlists' },
  { name: 'playlists-empty', path: '/playlists', answers: EMPTY },
  { name: 'playlist', path: `/playlists/${playlist.id}` },
  { name: 'playlist-new', path: '/playlists?form=new' },
  { name: 'destinations', path: '/destinations' },
  { name: 'destinations-empty', path: '/destinations', answers: EMPTY },
  { name: 'destination-new', path: '/destinations?form=new' },
];

const OF_ACCOUNTS: Look[] = [
  { name: 'billing', path: '/billing' },
  { name: 'billing-printed', path: '/billing', isPrinted: true },
  { name: 'billing-top-up', path: '/billing?form=top-up' },
  { name: 'billing-crypto', path: '/billing?form=deposit' },
  { name: 'deposit', path: '/billing/deposits/dep-01k8zq6x9k4n1z5d7e8p0q2r3t' },
  { name: 'account', path: '/account' },
  { name: 'keys', path: '/account/keys' },
  { name: 'key-new', path: '/account/keys?form=new' },
  { name: 'apps', path: '/account/apps' },
  { name: 'consent', path: `/consent?${CONSENT}` },
  { name: 'not-found', path: '/nothing/here' },
];

export const LOOKS: readonly Look[] = [...OPEN, ...OF_STREAMS, ...OF_MEDIA, ...OF_ACCOUNTS];
