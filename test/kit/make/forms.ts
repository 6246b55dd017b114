/**
 * Lists every form of the dashboard that takes text: invalid values of each field, a valid one, and the request on submit.
 * test/unit/dashboard/app/main.forms.test.ts compares the list with the sources.
 */
import type { Locator, Page } from 'playwright-core';
import type { Client } from '../../../src/service/client/index.ts';
import type { SharedSystem } from '../system/share-system.ts';

/** Markup, SQL, a bidirectional override, a zero-width character, a combining letter, and five characters in one glyph: a valid name. */
export const NASTY = `"><img src=x onerror=hacked=1>'; DROP TABLE a; --\u202Egnp.\u200Bo\u0308👩‍🚀`;
const LONG = 'long '.repeat(1000);
/** BEL, and the C1 control CSI. */
const CONTROL = 'a\u0007b\u009b2J';
const EMPTY = ['', '   '];

export interface Field {
  /** The visible label. */
  label: string;
  /** The label in the source, with … for a placeholder, where it differs; and its file, where that is not the form's. */
  source?: string;
  file?: string;
  /** A valid value. */
  right: string;
  wrong: readonly string[];
  /** The field's name in an error that is shown elsewhere. */
  called?: RegExp;
}

/** Objects that the account has beforehand. */
export interface Made {
  destination: string;
  playlist: string;
  stream: string;
  /** It has not confirmed its code. */
  endpoint: string;
  facts: SharedSystem['facts'];
}

export interface Form {
  /** The path below src/dashboard/. */
  file: string;
  path: (made: Made) => string;
  /** `prepare` runs before the page loads, `open` after it. */
  prepare?: (page: Page) => Promise<unknown>;
  open?: (page: Page, made: Made) => Promise<unknown>;
  form: (page: Page) => Locator;
  submit: string;
  fields: (made: Made) => readonly Field[];
  /** The request on submit: a method and a path. */
  sends: string;
  /** A retry after a lost answer has no second effect. */
  keyed?: true;
  /** The server refuses the request here, since a dependency is not set up. */
  refused?: true;
  /** The form changes its account, so it needs one of its own. */
  alone?: true;
  /** A locator that appears on success, where the form stays open. */
  done?: (page: Page) => Locator;
  /** Counts the objects that the form makes. */
  count?: (client: Client, page: Page, made: Made) => Promise<number>;
}

/** A name: any text is valid. */
const name = (label: string, more: Partial<Field> = {}): Field => ({
  label,
  right: NASTY,
  wrong: [...EMPTY, LONG, CONTROL],
  ...more,
});
/** An optional text. */
const optional = (label: string, more: Partial<Field> = {}): Field => name(label, { wrong: [LONG, CONTROL], ...more });
/** A machine-readable value. */
const strict = (label: string, right: string, more: Partial<Field> = {}): Field => ({
  label,
  right,
  wrong: [...EMPTY, LONG, CONTROL, NASTY],
  ...more,
});
/** The address of a destination, a field of its own that several forms have. */
const rtmpAddress = (right: string): Field => strict('Address (RTMP, RTMPS or SRT)', right, { source: 'AddressField' });
const selector = (label: string): Field => ({ label, right: 'team=radio', wrong: [LONG, CONTROL, NASTY, '%'] });

const search = (label: string, file?: string): Field => ({ label, right: NASTY, wrong: [], ...(file && { file }) });
const SMALL = `<b>&'--`;
/** The login of a destination's server: one field without the other is invalid. */
const LOGIN: readonly Field[] = [strict('User', 'publisher'), name('Password')].map((field) => ({
  ...field,
  file: 'features/destinations/login.tsx',
}));
/** Where viewers see a stream, by the choice that shows the fields. */
const VIEWERS: Readonly<Record<string, readonly Field[]>> = Object.fromEntries(
  Object.entries({
    'At an address (HLS, HTTP-FLV, RTMP)': [
      strict('Address that viewers open', 'https://cdn.example.com/live/stream.m3u8'),
    ],
    'On YouTube': [
      // With a token it may be empty.
      { ...strict('Video that viewers open', 'https://youtu.be/aqz-KE-bpKQ'), wrong: [LONG, CONTROL, NASTY] },
      { label: 'Refresh token', right: '1//0-token', wrong: [LONG, CONTROL, NASTY] },
    ],
    'On Twitch': [strict('Twitch channel', 'https://www.twitch.tv/some_name')],
  }).map(([place, fields]) => [
    place,
    fields.map((field) => ({ ...field, file: 'features/destinations/viewersFields.tsx' })),
  ]),
);
const LINK = 'http://127.0.0.1:1024/never.mp4';

const dialog = (page: Page): Locator => page.getByRole('dialog');
const findForm = (title: string) => (page: Page) => page.getByRole('form', { name: title });
const choose = (label: string) => (page: Page) => dialog(page).getByRole('radio', { name: label }).check();
const press = (label: string | RegExp) => (page: Page) => page.getByRole('button', { name: label }).click();
const unfold = (label: string) => (page: Page) => dialog(page).getByText(label, { exact: true }).click();

const countRows = async <T>(list: { page(): Promise<{ data: T[] }> }): Promise<number> =>
  (await list.page()).data.length;
const uploads = (client: Client) => countRows(client.uploads.list({ limit: 100 }));
const destinations = (client: Client) => countRows(client.destinations.list({ limit: 100 }));

/** A rule of a playlist, which is saved with the playlist; `when` is the choice that shows its fields. */
const ofRule = (when: string, named: string, fields: readonly Field[], more: Partial<Form> = {}): Form => ({
  file: 'features/playlists/ruleFields.tsx',
  path: ({ playlist }) => `/playlists/${playlist}`,
  form: (page) => page.getByRole('main'),
  submit: 'Save',
  sends: 'PATCH /v1/playlists/',
  open: async (page) => {
    await press('Add rule')(page);
    await page.getByRole('radio', { name: when }).check();
  },
  fields: () => [
    { label: 'Name of the rule', right: named, wrong: [...EMPTY, LONG] },
    { label: 'Playlist', source: 'label', file: 'ui/searchChoice.tsx', right: 'Jingles', wrong: [] },
    ...fields,
  ],
  done: (page) => page.getByText('Saved', { exact: true }),
  count: async ({ playlists }, _, { playlist }) => (await playlists.get(playlist)).version,
  ...more,
});

const OF_MEDIA: Record<string, Form> = {
  'a link to an upload': {
    file: 'features/uploads/linkForm.tsx',
    path: () => '/uploads?form=link',
    form: dialog,
    submit: 'Add upload',
    sends: 'POST /v1/uploads',
    keyed: true,
    count: uploads,
    fields: () => [strict('Link', LINK), optional('Name')],
  },
  'a quarantine of an upload': {
    file: 'features/uploads/quarantine.tsx',
    path: () => '/uploads',
    form: dialog,
    submit: 'Put in quarantine',
    sends: 'POST /v1/uploads/',
    keyed: true,
    alone: true,
    open: async (page) => {
      await page
        .getByRole('button', { name: /^More actions/ })
        .first()
        .click();
      await press('Put in quarantine…')(page);
    },
    // A reason may be longer than a name.
    fields: () => [name('Reason', { wrong: [...EMPTY, CONTROL] })],
  },
  'a new destination': {
    file: 'features/destinations/form.tsx',
    path: () => '/destinations?form=new',
    form: dialog,
    submit: 'Add destination',
    sends: 'POST /v1/destinations',
    keyed: true,
    count: destinations,
    open: unfold('This server requires a login'),
    fields: () => [
      name('Name'),
      // A platform, whose address is never complete without a key.
      rtmpAddress('rtmp://a.rtmp.youtube.com/live2'),
      strict('Stream key', 'key'),
      ...LOGIN,
    ],
  },
  'a destination that is changed': {
    file: 'features/destinations/form.tsx',
    path: ({ destination }) => `/destinations?form=edit+${destination}`,
    form: dialog,
    submit: 'Save',
    sends: 'PATCH /v1/destinations/',
    open: async (page) => {
      await unfold('This server requires a login')(page);
      await unfold('Least bitrate of stills and slides')(page);
    },
    fields: () => [
      name('Name'),
      rtmpAddress('rtmp://example.com/changed'),
      { label: 'New stream key', right: '', wrong: [LONG, CONTROL, NASTY] },
      {
        label: 'Least bitrate in kbit/s',
        file: 'features/destinations/leastBitrate.tsx',
        right: '1500',
        wrong: ['-1', '1.5', 'much', LONG, NASTY],
      },
      ...LOGIN,
    ],
  },
  ...Object.fromEntries(
    Object.entries(VIEWERS).map(([place, fields]): [string, Form] => [
      `the viewers of a destination ${place.toLowerCase()}`,
      {
        file: 'features/destinations/form.tsx',
        path: ({ destination }) => `/destinations?form=edit+${destination}`,
        form: dialog,
        submit: 'Save',
        sends: 'PATCH /v1/destinations/',
        open: async (page) => {
          await dialog(page).getByLabel('Where viewers see it').selectOption({ label: place });
        },
        fields: () => fields,
      },
    ]),
  ),
  'a new playlist': {
    file: 'features/playlists/createForm.tsx',
    path: () => '/playlists?form=new',
    form: dialog,
    submit: 'Create playlist',
    sends: 'POST /v1/playlists',
    keyed: true,
    count: ({ playlists }) => countRows(playlists.list({ limit: 100 })),
    fields: () => [name('Name'), search('Search your uploads', 'features/playlists/picker.tsx')],
  },
  'a playlist that is changed': {
    file: 'features/playlists/editor.tsx',
    path: ({ playlist }) => `/playlists/${playlist}`,
    form: (page: Page) => page.getByRole('main'),
    submit: 'Save',
    sends: 'PATCH /v1/playlists/',
    fields: () => [name('Name')],
    done: (page: Page) => page.getByRole('heading', { level: 1, name: NASTY }),
    count: async ({ playlists }, _, { playlist }) => (await playlists.get(playlist)).version,
  },
  'a rule that comes every so often': ofRule('Every so often', SMALL, [
    { label: 'Every', right: '20', wrong: ['', '0', '1000000000000000000000'] },
    { label: 'Clips in a row', right: '2', wrong: ['', '0', '101'] },
    { label: 'Late by at most (s)', right: '60', wrong: ['', '3601'] },
  ]),
  'a rule that comes after some clips': ofRule('After some clips', 'after some', [
    { label: 'Clips in between', right: '7', wrong: ['', '0', '1001'] },
  ]),
  'a rule that comes at times, in a list whose artists are apart': ofRule(
    'At times',
    'at times',
    [
      { label: 'At', file: 'features/streams/scheduleFields.tsx', right: '18:30', wrong: [''] },
      { label: 'Clips between two of one artist', file: 'features/playlists/editor.tsx', right: '3', wrong: [] },
    ],
    {
      open: async (page) => {
        await page.getByRole('radio', { name: 'Shuffled' }).check();
        await press('Add rule')(page);
        await page.getByRole('radio', { name: 'At times' }).check();
      },
    },
  ),
};

const ofSchedule = (repeat: string, fields: readonly Field[]): Form => ({
  file: 'features/streams/scheduleFields.tsx',
  path: ({ stream }) => `/streams/${stream}?form=schedule`,
  form: dialog,
  open: choose(repeat),
  submit: 'Save schedule',
  sends: 'POST /v1/streams/',
  keyed: true,
  fields: () => fields,
});

const OF_STREAMS: Record<string, Form> = {
  'a stream that is edited': {
    file: 'features/streams/editForm.tsx',
    path: ({ stream }) => `/streams/${stream}?form=edit`,
    form: dialog,
    submit: 'Save',
    sends: 'PATCH /v1/streams/',
    fields: () => [name('Name')],
  },
  'a text over the items of a stream': {
    file: 'features/streams/editForm.tsx',
    path: ({ stream }) => `/streams/${stream}?form=edit`,
    form: dialog,
    submit: 'Save',
    sends: 'PATCH /v1/streams/',
    open: async (page) => {
      await press('Add text')(page);
      await dialog(page).getByLabel('Box', { exact: true }).check();
    },
    fields: () =>
      [
        name('Text', { wrong: [...EMPTY, LONG, CONTROL, '{{next.title}}'] }),
        ...Object.entries({ Size: '6 %', Margin: '5 %', Opacity: '90 %' }).map(([label, right]) => ({
          ...{ label, right, source: 'label', wrong: [] },
        })),
        { label: 'Colour', right: '#00ff00', wrong: [] },
        { label: 'Colour: Box', source: 'Colour: …', right: '#0000ff', wrong: [] },
      ].map((field) => ({ ...field, file: 'features/overlays/layerFields.tsx' })),
  },
  'layers that are saved as a scene': {
    file: 'features/scenes/streamField.tsx',
    path: ({ stream }) => `/streams/${stream}?form=edit`,
    form: dialog,
    submit: 'Save scene',
    sends: 'POST /v1/scenes',
    keyed: true,
    open: async (page) => {
      await press('Add text')(page);
      await press('Save these layers as a scene')(page);
    },
    fields: () => [name('Name of the scene')],
    done: (page) => page.getByRole('link', { name: 'Edit this scene' }),
    count: ({ scenes }) => countRows(scenes.list({ limit: 100 })),
  },
  'a new scene': {
    file: 'features/scenes/form.tsx',
    path: () => '/scenes?form=new',
    form: dialog,
    submit: 'Create scene',
    sends: 'POST /v1/scenes',
    keyed: true,
    open: press('Add text'),
    fields: () => [name('Name')],
    count: ({ scenes }) => countRows(scenes.list({ limit: 100 })),
  },
  'a schedule of one time': ofSchedule('Once', [
    {
      label: 'Goes on air',
      source: 'label',
      right: '2031-01-31T18:00',
      wrong: ['', '2001-01-31T18:00', '275000-01-31T18:00'],
    },
    { label: 'Ends', source: 'label', right: '', wrong: ['2030-01-31T18:00', '0001-01-01T00:00'] },
  ]),
  'a schedule of days': ofSchedule('On days', [
    { label: 'From', right: '18:30', wrong: [''] },
    { label: 'To', right: '20:00', wrong: [''] },
    // A text that is no zone leaves the one that was chosen.
    { label: 'Time zone', source: 'label', file: 'ui/searchChoice.tsx', right: 'Europe/Berlin', wrong: [] },
  ]),
  'a schedule by an expression': ofSchedule('Cron', [
    strict('Cron expression', '0 18 1 1 *'),
    { label: 'Hours on air', right: '2', wrong: ['-1', '745', '1000000000000000000000'] },
    { label: 'Minutes on air', right: '30', wrong: ['-5', '60', '1000000000000000000000'] },
  ]),
  'a new stream’s link': {
    file: 'features/create/media.tsx',
    path: () => '/create',
    submit: 'Next',
    sends: 'POST /v1/uploads',
    keyed: true,
    form: (page: Page) => page.getByRole('region', { name: 'Media' }),
    count: uploads,
    open: (page) => page.getByRole('radio', { name: 'A link' }).check(),
    fields: () => [strict('Link to the video', LINK)],
  },
  'a new stream’s destination': {
    file: 'features/create/newDestination.tsx',
    path: () => '/create',
    submit: 'Next',
    sends: 'POST /v1/destinations',
    keyed: true,
    form: (page) => page.getByRole('region', { name: 'Destination' }),
    open: async (page, { playlist }) => {
      await page.getByRole('radio', { name: 'A playlist' }).check();
      await page.locator(`input[value="${playlist}"]`).check();
      await press('Next')(page);
      await press('New destination')(page);
      await page.getByRole('radio', { name: 'Custom' }).check();
      await page.getByText('This server requires a login', { exact: true }).click();
    },
    fields: () => [
      rtmpAddress('rtmp://a.rtmp.youtube.com/live2'),
      { ...strict('Stream key', 'key'), file: 'features/destinations/form.tsx' },
      ...LOGIN,
    ],
    count: destinations,
  },
  'a new stream’s name': {
    file: 'features/create/stream.tsx',
    path: () => '/create',
    submit: 'Create only',
    sends: 'POST /v1/streams',
    keyed: true,
    form: (page) => page.getByRole('region', { name: 'Name and quality' }),
    open: async (page, { playlist, destination }) => {
      await page.getByRole('radio', { name: 'A playlist' }).check();
      await page.locator(`input[value="${playlist}"]`).check();
      await press('Next')(page);
      await page.locator(`input[value="${destination}"]`).check();
      await press('Next')(page);
    },
    fields: () => [name('Name')],
    count: ({ streams }) => countRows(streams.list({ limit: 100 })),
  },
};

/** Names of things that are there, given from the menu of their rows. */
const OF_ROWS: Record<string, Form> = {
  'a copy of a stream': {
    file: 'features/streams/duplicateForm.tsx',
    path: () => '/streams',
    form: dialog,
    submit: 'Duplicate',
    sends: 'POST /v1/streams',
    keyed: true,
    open: async (page, { stream }) => {
      const card = page.locator(`[data-stream-id="${stream}"]`);
      await card.getByRole('button', { name: /^More actions/ }).click();
      await press('Duplicate…')(page);
      await dialog(page).getByRole('checkbox').first().check();
    },
    fields: () => [name('Name')],
    count: ({ streams }) => countRows(streams.list({ limit: 100 })),
  },
  'another name': {
    file: 'ui/renameDialog.tsx',
    path: () => '/destinations',
    form: dialog,
    submit: 'Rename',
    sends: 'PATCH /v1/destinations/',
    open: async (page) => {
      await page
        .getByRole('button', { name: /^More actions/ })
        .first()
        .click();
      await press('Rename…')(page);
    },
    // Others have given that one its name.
    fields: () => [name('New name', { right: `${NASTY} 2` })],
  },
};

const inTarget = { file: 'features/notifications/targetFields.tsx' };
/** The last fields of an endpoint's form. */
const OF_ENDPOINTS: readonly Field[] = [
  optional('Name', { file: 'features/notifications/form.tsx' }),
  {
    label: 'Seconds off air before a message',
    file: 'features/notifications/choiceFields.tsx',
    right: '60',
    wrong: ['', '3601', '1000000000000000000000'],
  },
];
const OF_REQUESTS: readonly Field[] = [
  { label: 'Headers', right: 'X-Tag: tv', wrong: [LONG, CONTROL, NASTY], ...inTarget },
  // The code of the endpoint, and what happened, would be nowhere.
  strict('Body', '{{text}}', inTarget),
];
const endpoints = ({ endpoints: calls }: Client) => countRows(calls.list({ limit: 100 }));

const OF_NOTIFICATIONS: Record<string, Form> = {
  'a mailbox that is told': {
    file: 'features/notifications/form.tsx',
    path: () => '/notifications?form=new',
    form: dialog,
    submit: 'Add endpoint',
    sends: 'POST /v1/endpoints',
    keyed: true,
    count: endpoints,
    fields: () => [
      {
        label: 'E-mail address',
        right: 'night.shift@example.com',
        wrong: [...EMPTY, NASTY, 'somebody', 'a b@example.com', `${'x'.repeat(300)}@example.com`, 'a@b@example.com'],
        ...inTarget,
      },
      ...OF_ENDPOINTS,
    ],
  },
  'a request of one’s own': {
    file: 'features/notifications/form.tsx',
    path: () => '/notifications?form=new',
    form: dialog,
    submit: 'Add endpoint',
    sends: 'POST /v1/endpoints',
    keyed: true,
    count: endpoints,
    open: choose('Other'),
    fields: () => [strict('Address', 'http://127.0.0.1:1024/never', inTarget), ...OF_REQUESTS, ...OF_ENDPOINTS],
  },
  'an endpoint that is changed': {
    file: 'features/notifications/form.tsx',
    path: ({ endpoint }) => `/notifications/${endpoint}?form=edit`,
    form: dialog,
    submit: 'Save',
    sends: 'PATCH /v1/endpoints/',
    open: (page) =>
      dialog(page)
        .getByLabel(/^Write the request anew/)
        .check(),
    fields: () => [
      { label: 'New address', right: '', wrong: [LONG, CONTROL, NASTY], ...inTarget },
      ...OF_REQUESTS,
      ...OF_ENDPOINTS,
    ],
  },
  'the code of an endpoint': {
    file: 'features/notifications/verify.tsx',
    path: ({ endpoint }) => `/notifications/${endpoint}`,
    form: (page) => page.getByRole('region', { name: 'Confirm this endpoint' }),
    submit: 'Confirm',
    sends: 'POST /v1/endpoints/',
    refused: true,
    fields: () => [{ label: 'Code', right: '1', wrong: EMPTY }],
  },
};

const AMOUNTS = ['-5', '0', '1e9', '0.001', '\u0663'];
const ASSET = {
  asset: 'ETH',
  network: 'local',
  contract: null,
  decimals: 18,
  minimumAmount: '1000000000000000',
  confirmations: 2,
  rate: '2500',
  currency: 'USD',
};
const inAddress = { source: 'FIELDS[name]' };

const OF_MONEY: Record<string, Form> = {
  'a top-up': {
    file: 'features/billing/topUpForm.tsx',
    path: () => '/billing?form=top-up',
    form: dialog,
    submit: 'Go to payment',
    open: choose('Other'),
    sends: 'POST /v1/billing/top-ups',
    refused: true,
    fields: () => [{ label: 'Other amount', right: '12.50', wrong: [...EMPTY, LONG, CONTROL, NASTY, ...AMOUNTS] }],
  },
  'a deposit': {
    file: 'features/billing/depositForm.tsx',
    path: () => '/billing?form=deposit',
    form: dialog,
    submit: 'Get an address',
    sends: 'POST /v1/crypto/deposits',
    refused: true,
    prepare: (page) => page.route('**/v1/crypto/assets', (route) => route.fulfill({ json: { data: [ASSET] } })),
    fields: () => [
      {
        label: 'Amount in USD',
        source: 'Amount in …',
        right: '12,5',
        wrong: [LONG, CONTROL, NASTY, ...AMOUNTS],
      },
    ],
  },
  'an invoice address': {
    file: 'features/billing/invoices.tsx',
    path: () => '/billing?form=address',
    form: dialog,
    submit: 'Save',
    sends: 'PATCH /v1/billing/address',
    fields: () => [
      ...['Company or person', 'Street and number', 'Address, continued'].map((label) => optional(label, inAddress)),
      ...['Postal code', 'Tax number'].map((label) => optional(label, { right: SMALL, ...inAddress })),
      ...['City', 'State or province'].map((label) => optional(label, inAddress)),
    ],
  },
};

const PASSWORDS = ['', 'lamps', 'password123', 'seven lamps '.repeat(30), 'a'.repeat(12)];
export const NEW_PASSWORD = `${NASTY} seven lamps`;
const newPassword = (label: string, source = label): Field => ({
  label,
  source,
  right: NEW_PASSWORD,
  wrong: PASSWORDS,
});
const address = (right: string): Field => ({
  label: 'E-mail address',
  source: 'AddressField',
  right,
  wrong: [...EMPTY, NASTY, 'somebody', 'a@b', 'a b@example.com', `${'x'.repeat(300)}@example.com`, 'a@b@example.com'],
});
const names = [
  name('First name', { source: 'NameField given-name' }),
  optional('Last name (optional)', { source: 'NameField family-name' }),
];
const PASSKEY = { id: '01234567-89ab-4def-8123-456789abcdef', name: NASTY, createdAt: '2027-01-31T18:00:00.000Z' };

const password = (facts: Made['facts']): Field => ({
  label: 'Password',
  source: 'PasswordField',
  right: facts.password ?? '',
  wrong: ['', NASTY, 'x'.repeat(10_000)],
  called: /password is wrong/,
});
const OVER = { type: '/docs/errors/unauthenticated', title: 'No session', status: 401, code: 'unauthenticated' };

/** Ends the session after the page has loaded: the first list fails, and the account is signed out. */
async function endSession(page: Page): Promise<void> {
  let asked = 0;
  await page.route('**/get-session**', (route) => {
    asked += 1;
    return asked === 1 ? route.fallback() : route.fulfill({ json: null });
  });
  const refusal = { status: 401, contentType: 'application/problem+json', json: { ...OVER, detail: 'It is over.' } };
  await page.route('**/v1/sessions**', (route) => route.fulfill(refusal), { times: 1 });
}

const OF_PEOPLE: Record<string, Form> = {
  'an API key': {
    file: 'features/account/createKey.tsx',
    path: () => '/account/keys?form=new',
    form: dialog,
    submit: 'Create key',
    sends: 'POST /v1/api-keys',
    fields: () => [name('Name'), selector('Only objects with the labels (optional)')],
    done: (page) => page.getByTestId('new-key'),
    count: async (_, page) =>
      (await (await page.request.get(new URL('/v1/api-keys', page.url()).href)).json()).data.length,
  },
  'who one is': {
    file: 'features/account/profilePanels.tsx',
    path: () => '/account',
    form: findForm('Profile'),
    submit: 'Save',
    sends: 'POST /api/auth/update-user',
    fields: () => names,
    done: (page) => page.getByText('Your name is saved.'),
  },
  'another password': {
    file: 'features/account/profilePanels.tsx',
    path: () => '/account',
    form: findForm('Password'),
    submit: 'Change password',
    sends: 'POST /api/auth/change-password',
    alone: true,
    done: (page) => page.getByText('Your password is changed.'),
    fields: ({ facts }) => [
      { label: 'Current password', right: facts.password ?? '', wrong: ['', NASTY] },
      newPassword('New password', 'NewPasswordField'),
    ],
  },
  'a passkey’s name': {
    file: 'features/account/passkeysPanel.tsx',
    path: () => '/account',
    form: dialog,
    submit: 'Save',
    refused: true,
    prepare: (page) => page.route('**/list-user-passkeys', (route) => route.fulfill({ json: [PASSKEY] })),
    open: press(/^Rename/),
    sends: 'POST /api/auth/passkey/update-passkey',
    fields: () => [name('Name')],
  },
  'signing in again': {
    file: 'features/account/signInAgain.tsx',
    path: () => '/account',
    form: dialog,
    submit: 'Sign in',
    prepare: endSession,
    sends: 'POST /api/auth/sign-in/email',
    fields: ({ facts }) => [{ ...password(facts), wrong: ['', NASTY] }],
  },
  'leaving for good': {
    file: 'features/account/leavePanels.tsx',
    path: () => '/account',
    form: dialog,
    submit: 'Delete everything',
    open: press('Delete account…'),
    sends: 'POST /v1/account/deletion',
    alone: true,
    done: (page) => page.getByText('Your account is deleted.'),
    fields: ({ facts }) => [
      {
        label: `Type ${facts.email} to confirm`,
        right: facts.email ?? '',
        wrong: [...EMPTY, NASTY, 'somebody@example.com', `${'x'.repeat(300)}@example.com`],
      },
      { label: 'Your password', right: facts.password ?? '', wrong: ['', NASTY, 'x'.repeat(257)], called: /password/ },
    ],
  },
};

/** These forms need no session. */
export const OPEN_FORMS: Record<string, Form> = {
  'signing in': {
    file: 'features/account/signInPage.tsx',
    path: () => '/sign-in',
    form: findForm('Sign in'),
    submit: 'Sign in',
    sends: 'POST /api/auth/sign-in/email',
    fields: ({ facts }) => [address(facts.email ?? ''), password(facts)],
  },
  'signing up': {
    file: 'features/account/signUpPage.tsx',
    path: () => '/sign-up',
    form: findForm('Create an account'),
    submit: 'Create account',
    sends: 'POST /api/auth/sign-up/email',
    fields: () => [...names, address('new.person@example.com'), newPassword('Password')],
  },
  'a password that is chosen in another browser than the one that signed up': {
    file: 'features/account/verifyPage.tsx',
    path: () => '/verify#token=x',
    form: findForm('Choose your password'),
    prepare: (page) =>
      page.route('**/verify-email', (route) =>
        route.fulfill({ status: 403, json: { code: 'PASSWORD_REQUIRED', email: 'new.person@example.com' } }),
      ),
    open: press('Confirm my address'),
    submit: 'Confirm and create account',
    sends: 'POST /api/auth/verify-email',
    fields: () => [...names, newPassword('Password')],
  },
  'a password that is forgotten': {
    file: 'features/account/resetPages.tsx',
    path: () => '/forgot-password',
    form: findForm('Choose a new password'),
    submit: 'Send the link',
    sends: 'POST /api/auth/request-password-reset',
    fields: ({ facts }) => [address(facts.email ?? '')],
  },
  'a password that is chosen anew': {
    file: 'features/account/resetPages.tsx',
    path: () => '/reset-password#token=x',
    form: findForm('Choose a new password'),
    submit: 'Set the new password',
    sends: 'POST /api/auth/reset-password',
    fields: () => [newPassword('New password', 'NewPasswordField')],
  },
  'a key instead': {
    file: 'features/account/keyForm.tsx',
    path: () => '/sign-in',
    open: press('Use an API key instead'),
    submit: 'Sign in',
    form: (page: Page) => page.locator('form'),
    sends: 'GET /v1/me',
    fields: ({ facts }) => [strict('API key', facts.apiKey, { wrong: [...EMPTY, LONG, CONTROL, NASTY, 'lsk_wrong'] })],
  },
};

export const FORMS: Record<string, Form> = {
  ...OF_MEDIA,
  ...OF_STREAMS,
  ...OF_ROWS,
  ...OF_NOTIFICATIONS,
  ...OF_MONEY,
  ...OF_PEOPLE,
};

/** A search field: any text is valid there. */
interface SearchField {
  file: string;
  label: string;
  /** The label in the source, with … for a placeholder, where it differs. */
  source?: string;
  path: string;
  /** The key that shows it. */
  press?: string;
  /** Characters that it takes. */
  most: number;
}

/** The search of a list of things, which a list has that is not empty. */
const inList = (nouns: string): SearchField => ({
  file: 'ui/listFilter.tsx',
  label: `Find ${nouns} by name`,
  source: 'Find … by name',
  path: `/${nouns}`,
  most: 200,
});

export const SEARCHES: readonly SearchField[] = [
  { file: 'features/streams/listPage.tsx', label: 'Find streams by name', path: '/streams', most: 200 },
  inList('uploads'),
  inList('playlists'),
  inList('destinations'),
  {
    file: 'app/palette.tsx',
    label: 'Find a stream, an upload, a playlist or a page',
    path: '/account',
    press: 'Control+k',
    most: 200,
  },
  { file: 'features/playlists/picker.tsx', label: 'Search your uploads', path: '/playlists?form=new', most: 10_000 },
];
export const WORDS = [...EMPTY, LONG, CONTROL, NASTY, 'true', '123', '"a"', '%', '\\'];
