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
    summary: 'Users and OAuth clients cannot sign in.',
    description: 'More than a tenth of the sign-ins and token requests have failed with 5xx for five minutes.',
    means: 'The authorization server fails. Such requests are few, so the error budget of the API hardly shows them.',
    viewers: `${PEOPLE_ONLY} Users cannot sign in, and OAuth clients lose their access within 15 minutes.`,
    looks: [
      shown('auth_sign_ins_total', 'method, outcome'),
      [API_LOG, 'errors with their request id'],
      [API_PODS, 'pods that restart or are not ready'],
    ],
    mends: [
      'PostgreSQL does not respond, or has no free connection: see LoopStreamDatabaseBusy.',
      'An upgrade did not migrate the database: run `loopstream migrate`, as the Job of the chart does.',
      '`LOOPSTREAM_AUTH_SECRET` was changed: signing keys made with another secret cannot be read. Restore the old one.',
    ],
  },
  {
    name: 'LoopStreamSignInsRefused',
    expr: `sum(${rate('auth_sign_ins_total{outcome=~"refused|limited"}', '10m')}) > 0.5 and sum(${rate('auth_sign_ins_total{outcome="ok"}', '10m')}) < sum(${rate('auth_sign_ins_total{outcome=~"refused|limited"}', '10m')}) / 10`,
    for: '10m',
    severity: 'warning',
    summary: 'Many sign-ins with wrong passwords.',
    description: 'More than 30 sign-ins a minute have failed for ten minutes, ten times as many as succeeded.',
    means:
      'An attacker guesses passwords, or tries stolen ones. Each IP address may try only a few for an account, and all new ones together only a few more. The owner of the account is not locked out.',
    viewers: `${PEOPLE_ONLY} Users who sign in notice nothing either.`,
    looks: [
      shown('auth_sign_ins_total', 'outcome'),
      [BY_ADDRESS, 'warnings about failed requests; the log of the proxy has the addresses'],
    ],
    mends: [
      'Mostly `limited`: the limits work. Block the addresses at the proxy, if they are few.',
      'Mostly `refused`: many addresses try a few passwords each. Lower `LOOPSTREAM_SIGN_IN_ATTEMPTS`, and filter `/api/auth/sign-in/` at the proxy.',
      'One of your own pages or programs retries with an old password: find it in the log of the proxy.',
    ],
  },
  {
    name: 'LoopStreamRefreshReuse',
    expr: `sum(${increase('auth_refresh_reuse_total', '1h')}) > 0`,
    severity: 'warning',
    summary: 'A refresh token was used twice.',
    description: 'An OAuth client sent a refresh token within the last hour that was used or revoked before.',
    means:
      'Another party has a copy of the token (RFC 9700, section 4.14), or the client lost the newer one. All tokens of the client for this user are revoked. The user must connect it again.',
    viewers: `${PEOPLE_ONLY} The client asks its user to connect it again.`,
    looks: [
      ['sum by (job, instance) (increase(auth_refresh_reuse_total[1h]))  # in Prometheus', 'once, or repeatedly'],
      [BY_ADDRESS, 'other requests at that time'],
    ],
    mends: [
      'Once, after a crash or a restored backup of a client: do nothing.',
      'Repeatedly: a client stores one token in two places. It must store the newest in one place.',
      'Neither: treat it as a theft. Tell the user, who can disconnect the client under connected apps. Find its actions in the events of the streams.',
    ],
  },
  {
    name: 'LoopStreamRegistrations',
    expr: `sum(${increase('auth_registrations_total{outcome="limited"}', '1h')}) > 50 or sum(${increase('auth_registrations_total{outcome="ok"}', '1h')}) > 500`,
    severity: 'warning',
    summary: 'Too many OAuth clients register.',
    description:
      'More than 50 registrations of OAuth clients exceeded the rate limit within the last hour, or more than 500 succeeded.',
    means:
      'Registration is open to everyone (RFC 7591), and an attacker fills the table of clients. Clients that no user connects are deleted after some days.',
    viewers: PEOPLE_ONLY,
    looks: [
      shown('auth_registrations_total', 'outcome'),
      [
        'psql "$DATABASE_URL" -c \'select date_trunc($$hour$$, "createdAt") as hour, count(*) from auth."oauthClient" group by 1 order by 1 desc limit 24\'',
        'the number of clients, and since when',
      ],
    ],
    mends: [
      'Block the addresses at the proxy, or lower `LOOPSTREAM_CLIENT_REGISTRATIONS`.',
      'Lower `LOOPSTREAM_UNUSED_CLIENT_DAYS` to delete unused clients sooner.',
    ],
  },
];

const others: Alert[] = [
  {
    name: 'LoopStreamMailsFailing',
    expr: `sum(${increase('mails_total{outcome="failed"}', '15m')}) > 0`,
    severity: 'warning',
    summary: 'Mails to users cannot be sent.',
    description: 'The mail server accepted a mail in none of the attempts within 15 minutes.',
    means:
      'The mail server does not respond, or rejects loopstream or an address. Mails confirm new accounts and reset forgotten passwords. A failed mail is not sent again.',
    viewers: `${PEOPLE_ONLY} New users do not get the mail that confirms their address.`,
    looks: [
      ['sum by (outcome) (increase(mails_total[1h]))  # in Prometheus', 'all of them, or a few'],
      [API_LOG, '`a mail could not be sent`, with the status code of the server'],
      ['kubectl get secret -n "$RELEASE_NS"', 'the Secret of the mail server, and its age'],
    ],
    mends: [
      'EAUTH, 535: the user or the password of `LOOPSTREAM_SMTP_URL` is wrong.',
      'ECONNECTION, ETIMEDOUT: check the network policy, the port and the status of the mail server.',
      '550, 553 for all: the server rejects the sender (`LOOPSTREAM_MAIL_FROM`). Check SPF and DKIM of its domain.',
      '550 for a few: the addresses do not exist. Do nothing.',
    ],
  },
  {
    name: 'LoopStreamToolsFailing',
    expr:
      `sum by (tool) (${rate('mcp_tool_duration_seconds_count{outcome="failed"}', '15m')}) / ` +
      `sum by (tool) (${rate('mcp_tool_duration_seconds_count{outcome!="cancelled"}', '15m')}) > 0.1`,
    for: '10m',
    severity: 'warning',
    summary: 'The agent tool {{ $labels.tool }} fails.',
    description:
      'More than a tenth of the calls of the tool have failed with a server error for ten minutes. The HTTP status is 200, so HTTP metrics do not show it.',
    means: 'Kubernetes, the storage or PostgreSQL does not respond, or the tool has a bug.',
    viewers: `${PEOPLE_ONLY} Agents cannot finish their tasks.`,
    looks: [
      shown('mcp_tool_duration_seconds_count{outcome="failed"}', 'tool'),
      [API_LOG, '`a tool failed`, with the code and the cause'],
    ],
    mends: [
      '`upstream_unavailable`: see LoopStreamWatchStale and LoopStreamDatabaseBusy.',
      '`internal`: a bug of loopstream; the log has the details. Run `helm rollback` if it came with an upgrade.',
    ],
  },
];

export const ACCESS_ALERTS: Group[] = [
  { name: 'loopstream.access', alerts: letIn },
  { name: 'loopstream.doors', alerts: others },
];
