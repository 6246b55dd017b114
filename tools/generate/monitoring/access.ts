/** Declares alerts about sign-ins, letters to users, and the tools of agents. Pure: no I/O, no clock. */
import { type Alert, API_LOG, API_PODS, type Group, ofApi } from './alert.ts';

const rate = (series: string, window: string): string => ofApi(`rate(${series}[${window}])`);
const increase = (series: string, window: string): string => ofApi(`increase(${series}[${window}])`);

const PEOPLE_ONLY = 'Viewers notice nothing.';
/** Requests, by what came of them. */
const shown = (metric: string, by: string): [string, string] => [
  `sum by (${by}) (rate(${metric}[5m]))  # in Prometheus`,
  'which of them, and how many',
];
const BY_ADDRESS =
  'kubectl logs -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=api --tail=2000 --prefix | grep "/api/auth/" || true';

/** For requests of users and programs to the authorization server. */
const failing = (outcome: string): string =>
  `(sum(${rate(`auth_sign_ins_total${outcome}`, '10m')}) + sum(${rate(`auth_tokens_total${outcome}`, '10m')}))`;

const letIn: Alert[] = [
  {
    name: 'LoopStreamSignInsFailing',
    expr: `${failing('{outcome="failed"}')} / ${failing('')} > 0.1`,
    for: '5m',
    severity: 'critical',
    summary: 'People and programs cannot get in.',
    description:
      'More than a tenth of the attempts to sign in, and to get a token, were answered 5xx for five minutes.',
    means:
      'The authorization server has a fault of its own. There are few such requests, so that the error budget of the API hardly notices.',
    viewers: `${PEOPLE_ONLY} People cannot sign in, and programs lose their access within 15 minutes.`,
    looks: [
      shown('auth_sign_ins_total', 'method, outcome'),
      [API_LOG, 'errors with their request id'],
      [API_PODS, 'pods that restart or are not ready'],
    ],
    mends: [
      'PostgreSQL does not answer, or has no connection left: see LoopStreamDatabaseBusy.',
      'An upgrade that has not migrated: `loopstream migrate` has to run first; the chart’s Job does it.',
      '`LOOPSTREAM_AUTH_SECRET` was changed: signing keys that were made with another one cannot be read. Put the old one back.',
    ],
  },
  {
    name: 'LoopStreamSignInsRefused',
    expr: `sum(${rate('auth_sign_ins_total{outcome=~"refused|limited"}', '10m')}) > 0.5 and sum(${rate('auth_sign_ins_total{outcome="ok"}', '10m')}) < sum(${rate('auth_sign_ins_total{outcome=~"refused|limited"}', '10m')}) / 10`,
    for: '10m',
    severity: 'warning',
    summary: 'Somebody tries passwords.',
    description:
      'For ten minutes there were more than 30 refused sign-ins a minute, and ten times as many as good ones.',
    means:
      'Passwords are guessed, or tried that were stolen elsewhere. Each address may try few of them for an account; the owner of the account is not locked out by it.',
    viewers: `${PEOPLE_ONLY} Neither do people who sign in.`,
    looks: [
      shown('auth_sign_ins_total', 'outcome'),
      [BY_ADDRESS, 'warnings about requests that were refused; addresses are in the log of the proxy before it'],
    ],
    mends: [
      '`limited` is most of it: the limits hold. Refuse the addresses at the proxy, if they are few.',
      '`refused` is most of it: many addresses try a little each. Lower `LOOPSTREAM_SIGN_IN_ATTEMPTS`, and put a filter of the proxy before `/api/auth/sign-in/`.',
      'A page or a program of one’s own that asks again and again with an old password: find it in the proxy’s log.',
    ],
  },
  {
    name: 'LoopStreamRefreshReuse',
    expr: `sum(${increase('auth_refresh_reuse_total', '1h')}) > 0`,
    severity: 'warning',
    summary: 'A refresh token was used twice.',
    description:
      'Within the last hour a program came with a refresh token that had been exchanged, or given back, before.',
    means:
      'Somebody has a copy of a program’s token (RFC 9700, section 4.14), or the program has lost the newer one. All that the program had from that person has been ended; the person must let it in again.',
    viewers: `${PEOPLE_ONLY} The program asks its person to connect it again.`,
    looks: [
      ['sum by (job, instance) (increase(auth_refresh_reuse_total[1h]))  # in Prometheus', 'once, or again and again'],
      [BY_ADDRESS, 'what else came at that time'],
    ],
    mends: [
      'Once, after a crash or a restored backup of a program: nothing is to be done.',
      'Again and again: a program that keeps one token in two places; it must keep the newest in one.',
      'Neither: take it for a theft. Tell the person, who sees the program among the connected apps and can end its sessions; look at what it did in the events of the streams.',
    ],
  },
  {
    name: 'LoopStreamRegistrations',
    expr: `sum(${increase('auth_registrations_total{outcome="limited"}', '1h')}) > 50 or sum(${increase('auth_registrations_total{outcome="ok"}', '1h')}) > 500`,
    severity: 'warning',
    summary: 'Programs register more often than people would let in.',
    description:
      'Within the last hour more than 50 registrations of programs were refused for coming too often, or more than 500 were made.',
    means:
      'Registration is open to everybody (RFC 7591). Somebody fills the table of programs; those that nobody lets in are swept after some days.',
    viewers: PEOPLE_ONLY,
    looks: [
      shown('auth_registrations_total', 'outcome'),
      [
        'psql "$DATABASE_URL" -c \'select date_trunc($$hour$$, "createdAt") as hour, count(*) from auth."oauthClient" group by 1 order by 1 desc limit 24\'',
        'how many there are, and since when',
      ],
    ],
    mends: [
      'Refuse the addresses at the proxy, or lower `LOOPSTREAM_CLIENT_REGISTRATIONS`.',
      'Sweep sooner: a lower `LOOPSTREAM_UNUSED_CLIENT_DAYS`.',
    ],
  },
];

const others: Alert[] = [
  {
    name: 'LoopStreamMailsFailing',
    expr: `sum(${increase('mails_total{outcome="failed"}', '15m')}) > 0`,
    severity: 'warning',
    summary: 'Mails to people do not get out.',
    description: 'Within a quarter of an hour a mail was not taken by its server after all attempts.',
    means:
      'The mail server is away, refuses us, or refuses an address. Mails confirm new accounts and let in whoever has forgotten a password; a lost one is not sent again by itself.',
    viewers: `${PEOPLE_ONLY} New people wait for a letter that does not come.`,
    looks: [
      ['sum by (outcome) (increase(mails_total[1h]))  # in Prometheus', 'all of them, or a few'],
      [API_LOG, '`a mail could not be sent`, with the number of the server’s answer'],
      ['kubectl get secret -n "$RELEASE_NS"', 'the Secret with the address of the mail server, by its age'],
    ],
    mends: [
      'EAUTH, 535: the user or the password of `LOOPSTREAM_SMTP_URL` is wrong.',
      'ECONNECTION, ETIMEDOUT: the way to the server (network policy, port, its own status).',
      '550, 553 for all: the sender (`LOOPSTREAM_MAIL_FROM`) may not send from here; SPF and DKIM of its domain.',
      '550 for a few: addresses that do not exist; nothing is to be done.',
    ],
  },
  {
    name: 'LoopStreamToolsFailing',
    expr:
      `sum by (tool) (${rate('mcp_tool_duration_seconds_count{outcome="failed"}', '15m')}) / ` +
      `sum by (tool) (${rate('mcp_tool_duration_seconds_count{outcome!="cancelled"}', '15m')}) > 0.1`,
    for: '10m',
    severity: 'warning',
    summary: 'The agents’ tool {{ $labels.tool }} fails.',
    description:
      'More than a tenth of its calls have failed by a fault on our side for ten minutes. All are answered 200, so that the errors of HTTP do not show them.',
    means:
      'What the tool does needs Kubernetes, the storage or PostgreSQL, and one of them does not answer; or it has a fault.',
    viewers: `${PEOPLE_ONLY} Agents cannot do what they were asked to.`,
    looks: [
      shown('mcp_tool_duration_seconds_count{outcome="failed"}', 'tool'),
      [API_LOG, '`a tool failed`, with the code and what was behind it'],
    ],
    mends: [
      '`upstream_unavailable`: see LoopStreamWatchStale and LoopStreamDatabaseBusy.',
      '`internal`: a fault of ours; the log has its story. `helm rollback` if it came with an upgrade.',
    ],
  },
];

export const ACCESS_ALERTS: Group[] = [
  { name: 'loopstream.access', alerts: letIn },
  { name: 'loopstream.doors', alerts: others },
];
