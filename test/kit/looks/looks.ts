/** Lists what pictures are kept of: every page of the dashboard, and its forms, questions and states. */
import type { Page } from 'playwright-core';
import type { Stream } from '../../../src/service/client/index.ts';
import {
  degraded,
  live,
  logo,
  noCredit,
  overlaid,
  overlaidChange,
  playlist,
  radio,
  scenes,
  staged,
  streams,
  unseen,
  unseenStats,
  uploads,
  viewed,
} from './account.ts';
import { type Answers, AWAY, EMPTY, later } from './answers.ts';
import { endpoints } from './notifications.ts';
import type { Visit } from './open.ts';
import { quarantine } from './programme.ts';

export interface Look extends Visit {
  name: string;
  /** As it is on paper. */
  isPrinted?: boolean;
  /** Runs on the page before the picture. */
  act?: (page: Page) => Promise<unknown>;
  /** Waits for what is to be seen, in each size: another size may ask the server again. */
  shown?: (page: Page) => Promise<unknown>;
}

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

/** Its code is loaded when it is first asked for. */
const dialog = (page: Page) => page.getByRole('dialog').waitFor();

async function openFind(page: Page): Promise<void> {
  await press('Find')(page);
  await dialog(page);
}

const openByKey = (key: string) => async (page: Page) => {
  await page.keyboard.press(key);
  await dialog(page);
};

const chooseInMenu = (name: string) => async (page: Page) => {
  await press(/^More actions/)(page);
  await press(name)(page);
};

async function tickInTable(page: Page): Promise<void> {
  await press('Show a table')(page);
  for (const place of [1, 2]) await page.getByRole('checkbox').nth(place).check();
}

async function deleteTicked(page: Page): Promise<void> {
  await tickInTable(page);
  await press('Delete 2')(page);
}

/** A rule with times, and the preview of them. */
async function openRule(page: Page): Promise<void> {
  await page.getByRole('button', { name: /night$/, expanded: false }).click();
  await page.getByTestId('rule-times').waitFor();
  await page.getByRole('region', { name: 'Rules' }).evaluate((element) => element.scrollIntoView({ block: 'start' }));
}

/** A new rule that lacks what it needs. */
async function saveWrongRule(page: Page): Promise<void> {
  await press('Add rule')(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const name = page.getByLabel('Name of the rule');
  await name.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await page.getByText('Choose a playlist.').first().waitFor();
}

/** A page asks a second time before it gives up. */
const failed = (page: Page) => page.getByRole('button', { name: 'Try again' }).waitFor();

const CONSENT = new URLSearchParams({
  ...{ client_id: 'kWcQy3TzVbNfRpLs', redirect_uri: 'http://127.0.0.1:4567/callback', sig: 'none' },
  scope: 'service:read service:write offline_access',
});

const refuse = (page: Page, url: string, status: number, code: string, detail: string) =>
  page.route(url, (route) =>
    route.fulfill({
      status,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: `/docs/errors/${code}`, title: '', status, detail, code }),
    }),
  );

/** Ends the session while the page is open. */
async function endSession(page: Page): Promise<void> {
  await refuse(page, '**/v1/**', 401, 'unauthenticated', 'The session is over.');
  await page.route('**/api/auth/get-session', (route) => route.fulfill({ json: null }));
  await page.getByRole('link', { name: 'Playlists' }).first().click();
  await page.getByRole('dialog').waitFor();
}

async function signInTooOften(page: Page): Promise<void> {
  const detail = 'Too many attempts from this address. Try again in 582 seconds.';
  await refuse(page, '**/api/auth/sign-in/email', 429, 'rate_limited', detail);
  await page.getByLabel('E-mail address').fill('somebody@example.com');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText(detail).waitFor();
}

/** Saves an edit that would end what viewers see. */
async function moveElsewhere(page: Page): Promise<void> {
  const group = page.getByRole('dialog').getByRole('group', { name: 'Destinations' });
  await group.getByLabel('Second channel').check();
  await group.getByLabel('Main channel').uncheck();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog', { name: /off air\?$/ }).waitFor();
}

/** The last step of a new stream, with a text over its pictures. */
async function goToName(page: Page): Promise<void> {
  const next = () => page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('radio', { name: 'An upload' }).check();
  await page.getByRole('radio', { name: /fireplace/ }).check();
  await next();
  await page.getByRole('radio', { name: /Main channel/ }).check();
  await next();
  const overlays = page.getByRole('group', { name: 'Overlays' });
  await overlays.getByRole('button', { name: 'Add text' }).click();
  await overlays.getByTestId('overlays-preview').waitFor();
}

/** A change shows what it takes of the storage. */
async function openLayer(page: Page): Promise<void> {
  const overlays = page.getByRole('dialog').getByRole('group', { name: 'Overlays' });
  await overlays.getByRole('button', { name: /^Text: / }).click();
  await overlays.getByLabel('Bold').check();
  await page.getByText(/of your storage\.$/).waitFor();
  await overlays.evaluate((element) => element.scrollIntoView({ block: 'start' }));
}

async function showScene(page: Page): Promise<void> {
  const overlays = page.getByRole('dialog').getByRole('group', { name: 'Overlays' });
  await overlays.getByTestId('overlays-preview').waitFor();
  await overlays.evaluate((element) => element.scrollIntoView({ block: 'start' }));
}

async function showCards(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  const cards = dialog.getByLabel('Show a picture for each song');
  // The form is as long as it stays once these have come.
  for (const label of ['Picture behind the words', 'Picture while nothing can be played'])
    await dialog.getByLabel(label).waitFor();
  await dialog.getByRole('button', { name: 'Add text' }).waitFor();
  await cards.evaluate((element) => element.scrollIntoView({ block: 'center' }));
}

async function addWithoutKey(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Custom' }).check();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('My own server');
  await dialog.getByLabel('Address').fill('rtmp://media.example/mystream');
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  await page.getByRole('dialog', { name: /without a stream key/ }).waitFor();
}

async function chooseRights(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Chosen rights' }).check();
  await dialog.getByRole('checkbox', { name: /^Write:/ }).check();
}

const OPEN: Look[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'sign-up', path: '/sign-up' },
  { name: 'check-mail', path: '/check-mail' },
  { name: 'verify', path: '/verify#token=none' },
  { name: 'forgot-password', path: '/forgot-password' },
  { name: 'reset-password', path: '/reset-password#token=none' },
  { name: 'sign-in-too-often', path: '/sign-in', act: signInTooOften },
].map((look) => ({ ...look, isOpen: true }));

const findStream = (fits: (stream: Stream) => boolean): Stream => streams.find(fits) ?? live;
const idle = findStream(({ status }) => status === 'idle');

/** Viewers of a stream on air do not see it at one of its destinations. */
const NOT_SEEN: Answers = {
  listDestinations: viewed,
  getDestination: viewed[1],
  listStreams: [unseen, ...streams.slice(1, 5)],
  getStream: unseen,
  getStreamLiveStats: unseenStats,
};

const OF_STREAMS: Look[] = [
  { name: 'overview', path: '/' },
  { name: 'overview-empty', path: '/', answers: EMPTY },
  { name: 'overview-unseen', path: '/', answers: NOT_SEEN },
  { name: 'streams', path: '/streams' },
  { name: 'streams-unseen', path: '/streams', answers: NOT_SEEN },
  { name: 'streams-table-unseen', path: '/streams', answers: NOT_SEEN, act: press('Show a table') },
  { name: 'streams-table', path: '/streams', act: tickInTable },
  { name: 'streams-delete', path: '/streams', act: deleteTicked },
  { name: 'stream-duplicate', path: '/streams', act: chooseInMenu('Duplicate…') },
  { name: 'find', path: '/streams', act: openFind },
  { name: 'shortcuts', path: '/streams', act: openByKey('?') },
  { name: 'streams-chosen', path: '/streams', act: (page) => page.getByRole('checkbox').nth(3).check() },
  { name: 'streams-empty', path: '/streams', answers: EMPTY },
  { name: 'streams-loading', path: '/streams', answers: { listStreams: later } },
  { name: 'streams-away', path: '/streams', answers: AWAY, shown: failed },
  { name: 'streams-not-found', path: '/streams?q=nothing+is+called+this' },
  { name: 'stream', path: `/streams/${live.id}` },
  { name: 'stream-printed', path: `/streams/${live.id}`, isPrinted: true },
  { name: 'stream-degraded', path: `/streams/${degraded.id}` },
  { name: 'stream-unseen', path: `/streams/${unseen.id}`, answers: NOT_SEEN },
  { name: 'stream-idle', path: `/streams/${idle.id}` },
  {
    name: 'stream-long-name',
    path: `/streams/${findStream(({ name }) => name.length === 200).id}`,
    act: press(/^(Start|Stop) /),
  },
  { name: 'stream-right-to-left', path: `/streams/${findStream(({ name }) => /^[\u0590-\u06ff]/.test(name)).id}` },
  { name: 'stream-missing', path: '/streams/str-none' },
  { name: 'stream-edit', path: `/streams/${live.id}?form=edit` },
  {
    name: 'stream-edit-overlays',
    path: `/streams/${live.id}?form=edit`,
    answers: { getStream: overlaid, listUploads: [logo, ...uploads.slice(0, 4)], updateStream: overlaidChange },
    act: openLayer,
  },
  {
    name: 'stream-edit-scene',
    path: `/streams/${live.id}?form=edit`,
    answers: { getStream: staged, listUploads: [logo, ...uploads.slice(0, 4)] },
    shown: showScene,
  },
  {
    name: 'stream-edit-cards',
    path: `/streams/${live.id}?form=edit`,
    answers: { getStream: radio, listUploads: [logo, ...uploads.slice(0, 4)] },
    shown: showCards,
  },
  {
    name: 'stream-edit-off-air',
    path: `/streams/${live.id}?form=edit`,
    answers: { updateStream: { ...live, takesOffAir: true, lostDestinationIDs: live.destinationIDs, effect: '' } },
    act: moveElsewhere,
  },
  {
    name: 'stream-schedule',
    path: `/streams/${idle.id}?form=schedule`,
    act: (page) => page.getByLabel('On days').check(),
  },
  { name: 'stream-stop', path: `/streams/${live.id}`, act: press(/^Stop /) },
  { name: 'create', path: '/create' },
  { name: 'create-empty', path: '/create', answers: EMPTY },
  { name: 'create-no-credit', path: '/create', answers: { ...EMPTY, getBilling: noCredit } },
  { name: 'create-name', path: '/create', act: goToName },
  { name: 'create-progress', path: `/create?stream=${live.id}` },
];

const OF_MEDIA: Look[] = [
  { name: 'uploads', path: '/uploads' },
  { name: 'uploads-empty', path: '/uploads', answers: EMPTY },
  { name: 'uploads-away', path: '/uploads', answers: AWAY, shown: failed },
  { name: 'upload-link', path: '/uploads?form=link' },
  { name: 'upload-delete', path: '/uploads', act: chooseInMenu('Delete upload…') },
  { name: 'upload-rename', path: '/uploads', act: chooseInMenu('Rename…') },
  { name: 'uploads-not-found', path: '/uploads?q=nothing+is+called+this', answers: { listUploads: [] } },
  {
    name: 'uploads-quarantined',
    path: '/uploads',
    answers: {
      listUploads: uploads.slice(0, 3).map((one, n) => ({ ...one, quarantine: n === 1 ? quarantine : null })),
    },
  },
  { name: 'upload-quarantine', path: '/uploads', act: chooseInMenu('Put in quarantine…') },
  { name: 'upload-play', path: '/uploads', act: press(/^Play /) },
  { name: 'playlists', path: '/playlists' },
  { name: 'playlists-empty', path: '/playlists', answers: EMPTY },
  { name: 'playlists-away', path: '/playlists', answers: AWAY, shown: failed },
  { name: 'playlist', path: `/playlists/${playlist.id}` },
  { name: 'playlist-rule', path: `/playlists/${playlist.id}`, act: openRule },
  { name: 'playlist-rule-wrong', path: `/playlists/${playlist.id}`, act: saveWrongRule },
  { name: 'playlist-new', path: '/playlists?form=new' },
  { name: 'scenes', path: '/scenes' },
  { name: 'scenes-empty', path: '/scenes', answers: EMPTY },
  {
    name: 'scene-edit',
    path: `/scenes?form=edit+${scenes[0]?.id}`,
    answers: { listUploads: [logo] },
    shown: (page) => page.getByTestId('overlays-preview').waitFor(),
  },
  { name: 'destinations', path: '/destinations' },
  { name: 'destinations-empty', path: '/destinations', answers: EMPTY },
  { name: 'destinations-away', path: '/destinations', answers: AWAY, shown: failed },
  { name: 'destination-new', path: '/destinations?form=new' },
  { name: 'destinations-viewed', path: '/destinations', answers: NOT_SEEN },
  { name: 'destination-viewers', path: `/destinations?form=edit+${viewed[1]?.id}`, answers: NOT_SEEN },
  { name: 'destination-no-key', path: '/destinations?form=new', act: addWithoutKey },
  { name: 'sign-in-again', path: '/destinations', act: endSession },
];

const [mailbox, webhook, unconfirmed] = endpoints.map(({ id }) => `/notifications/${id}`);

async function writeRequest(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Other' }).check();
  await page.getByText('Placeholders', { exact: true }).click();
}

async function chooseEvents(page: Page): Promise<void> {
  await page.getByRole('group', { name: 'Events' }).getByLabel('Only some').check();
  await page.getByRole('group', { name: 'Streams' }).getByLabel('Only some').check();
  await page.getByRole('group', { name: 'Send events of these streams' }).getByRole('checkbox').first().check();
}

const OF_NOTIFICATIONS: Look[] = [
  { name: 'endpoints', path: '/notifications' },
  { name: 'endpoints-empty', path: '/notifications', answers: EMPTY },
  { name: 'endpoint-new', path: '/notifications?form=new' },
  { name: 'endpoint-new-request', path: '/notifications?form=new', act: writeRequest },
  { name: 'endpoint-new-some', path: '/notifications?form=new', act: chooseEvents },
  { name: 'events', path: '/notifications/events' },
  { name: 'events-empty', path: '/notifications/events', answers: EMPTY },
  { name: 'endpoint', path: webhook ?? '', act: press('Show the secret') },
  { name: 'endpoint-mail', path: mailbox ?? '', answers: { listEndpointDeliveries: [] } },
  { name: 'endpoint-unconfirmed', path: unconfirmed ?? '', answers: { listEndpointDeliveries: [] } },
  { name: 'endpoint-off', path: `/notifications/${endpoints[4]?.id}`, act: press(/^Test /) },
];

const OF_ACCOUNTS: Look[] = [
  { name: 'billing', path: '/billing' },
  { name: 'billing-loading', path: '/billing', answers: { getBilling: later } },
  { name: 'billing-printed', path: '/billing', isPrinted: true },
  { name: 'billing-no-credit', path: '/billing', answers: { ...EMPTY, getBilling: noCredit } },
  { name: 'billing-top-up', path: '/billing?form=top-up' },
  { name: 'billing-crypto', path: '/billing?form=deposit' },
  { name: 'deposit', path: '/billing/deposits/dep-01k8zq6x9k4n1z5d7e8p0q2r3t' },
  { name: 'account', path: '/account' },
  { name: 'keys', path: '/account/keys' },
  { name: 'key-new', path: '/account/keys?form=new' },
  { name: 'key-new-rights', path: '/account/keys?form=new', act: chooseRights },
  { name: 'key-policy', path: '/account/keys', act: press('Change limit') },
  { name: 'apps', path: '/account/apps' },
  { name: 'consent', path: `/consent?${CONSENT}` },
  { name: 'not-found', path: '/nothing/here' },
];

export const LOOKS: readonly Look[] = [...OPEN, ...OF_STREAMS, ...OF_MEDIA, ...OF_NOTIFICATIONS, ...OF_ACCOUNTS];
