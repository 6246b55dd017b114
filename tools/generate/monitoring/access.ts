/** Declares alerts about sign-ins, mails to users, and the tools of agents. Pure: no I/O, no clock. */
import { type Alert, API_LOG, API_PODS, type Group, ofApi } from './alert.ts';

const rate = (series: string, window: string): string => ofApi(`rate(${series}[${window}])`);
const increase = (series: string, window: string): string => ofApi(`increase(${series}[${window}])`);

const PEOPLE_ONLY = 'Viewers notice nothing.';
/** Requests, by what came of them. */
const shown = (metric: string, by: string): [string, string] => [
  `sum by (${by}) (rate(${metric}[5m]))  # in Prometheus`,
  'the rate of each',
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
      'The authorization server has a fault of its own. Such requests are few, so the error budget of the API hardly shows them.',
    viewers: `${PEOPLE_ONLY} Users cannot sign in, and programs lose their access within 15 minutes.`,
    looks: [
      shown('auth_sign_ins_total', 'method, outcome'),
      [API_LOG, 'errors with their request id'],
      [API_PODS, 'pods that restart or are not ready'],
    ],
    mends: [
      'PostgreSQL does not answer, or has no connection left: see LoopStreamDatabaseBusy.',
      'An upgrade that has not migrated: `loopstream migrate` has to run first; the chart’s Job does it.',
      '`LOOPSTREAM_AUTH_SECRET` was changed: signing keys made with another secret cannot be read. Restore the old one.',
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
      'Somebody guesses passwords, or tries stolen ones. Each address may try only a few for an account. The owner of the account is not locked out.',
    viewers: `${PEOPLE_ONLY} Users who sign in notice nothing either.`,
    looks: [
      shown('auth_sign_ins_total', 'outcome'),
      [BY_ADDRESS, 'warnings about refused requests; the log of the proxy in front has the addresses'],
    ],
    mends: [
      'Mostly `limited`: the limits hold. Refuse the addresses at the proxy, if they are few.',
      'Mostly `refused`: many addresses try a little each. Lower `LOOPSTREAM_SIGN_IN_ATTEMPTS`, and filter `/api/auth/sign-in/` at the proxy.',
      'A page or program of your own that retries with an old password: find it in the proxy’s log.',
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
      'Somebody has a copy of a program’s token (RFC 9700, section 4.14), or the program has lost the newer one. All tokens of the program for this user have ended. The user must connect it again.',
    viewers: `${PEOPLE_ONLY} The program asks its user to connect it again.`,
    looks: [
      ['sum by (job, instance) (increase(auth_refresh_reuse_total[1h]))  # in Prometheus', 'once, or repeatedly'],
      [BY_ADDRESS, 'other requests at that time'],
    ],
    mends: [
      'Once, after a crash or a restored backup of a program: do nothing.',
      'Repeatedly: a program keeps one token in two places. It must keep the newest in one.',
      'Neither: treat it as a theft. Tell the user, who can end the sessions of the program among the connected apps. Look for its actions in the events of the streams.',
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
      'Registration is open to everybody (RFC 7591), and somebody fills the table of programs. Programs that no user connects are deleted after some days.',
    viewers: PEOPLE_ONLY,
    looks: [
      shown('auth_registrations_total', 'outcome'),
      [
        'psql "$DATABASE_URL" -c \'select date_trunc($$hour$$, "createdAt") as hour, count(*) from auth."oauthClient" group by 1 order by 1 desc limit 24\'',
        'the number of programs, and since when',
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
      'The mail server is away, or refuses loopstream or an address. Mails confirm new accounts and reset forgotten passwords. A lost mail is not sent again.',
    viewers: `${PEOPLE_ONLY} New users wait for a mail that does not come.`,
    looks: [
      ['sum by (outcome) (increase(mails_total[1h]))  # in Prometheus', 'all of them, or a few'],
      [API_LOG, '`a mail could not be sent`, with the status code of the server'],
      ['kubectl get secret -n "$RELEASE_NS"', 'the Secret with the address of the mail server, by its age'],
    ],
    mends: [
      'EAUTH, 535: the user or the password of `LOOPSTREAM_SMTP_URL` is wrong.',
      'ECONNECTION, ETIMEDOUT: the way to the server (network policy, port, its own status).',
      '550, 553 for all: the sender (`LOOPSTREAM_MAIL_FROM`) may not send from here; SPF and DKIM of its domain.',
      '550 for a few: addresses that do not exist; do nothing.',
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
      'The tool needs Kubernetes, the storage or PostgreSQL, and one of them does not answer; or the tool has a fault.',
    viewers: `${PEOPLE_ONLY} Agents cannot do their tasks.`,
    looks: [
      shown('mcp_tool_duration_seconds_count{outcome="failed"}', 'tool'),
      [API_LOG, '`a tool failed`, with the code and the cause'],
    ],
    mends: [
      '`upstream_unavailable`: see LoopStreamWatchStale and LoopStreamDatabaseBusy.',
      '`internal`: a fault of loopstream; the log has the details. Run `helm rollback` if it came with an upgrade.',
    ],
  },
];

export const ACCESS_ALERTS: Group[] = [
  { name: 'loopstream.access', alerts: letIn },
  { name: 'loopstream.doors', alerts: others },
];
