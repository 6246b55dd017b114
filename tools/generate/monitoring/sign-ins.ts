/** Declares the dashboard of sign-ins by kind, and of mails to users. Pure: no I/O, no clock. */
import { type Dashboard, graph, number, quantile, RANGE, RATE } from './panel.ts';

const JOB = 'job=~"$job"';
const api = (metric: string, more = ''): string => `${metric}{${JOB}${more}}`;
const ofRange = (metric: string, more = ''): string => `sum(increase(${api(metric, more)}${RANGE}))`;
const rateBy = (labels: string, metric: string, more = ''): string =>
  `sum by (${labels}) (rate(${api(metric, more)}${RATE}))`;
const TOOL_SECONDS = 'mcp_tool_duration_seconds';

export const SIGN_INS: Dashboard = {
  uid: 'loopstream-visitors',
  title: 'loopstream: users, OAuth clients and agents',
  description: 'Sign-ins, tokens, mails to users, and tool calls of agents. The numbers name no user.',
  variables: [{ name: 'job', query: 'label_values(auth_sign_ins_total, job)', multi: true }],
  rows: [
    {
      title: 'Sign-ins',
      panels: [
        number('Signed in', 'In the shown time.', ofRange('auth_sign_ins_total', ',outcome="ok"')),
        number(
          'Sign-ins refused',
          'Wrong passwords, and attempts above the rate limit. Some are normal.',
          ofRange('auth_sign_ins_total', ',outcome=~"refused|limited"'),
        ),
        number(
          'Failed',
          'Server errors of sign-ins and token requests. Normal: 0.',
          `${ofRange('auth_sign_ins_total', ',outcome="failed"')} + ${ofRange('auth_tokens_total', ',outcome="failed"')}`,
          { bad: 1 },
        ),
        number(
          'Refresh tokens used twice',
          'A stolen token, or an OAuth client that lost the newer one. Normal: 0.',
          ofRange('auth_refresh_reuse_total'),
          { bad: 1 },
        ),
        number(
          'Registrations refused',
          'Of OAuth clients, above the rate limit or with wrong metadata.',
          ofRange('auth_registrations_total', ',outcome=~"refused|limited"'),
        ),
        number('Mails that failed', 'After all attempts. Normal: 0.', ofRange('mails_total', ',outcome="failed"'), {
          bad: 1,
        }),
        graph('Attempts to sign in', 'A second, by method and outcome.', 'ops', [
          [rateBy('method, outcome', 'auth_sign_ins_total'), '{{method}}: {{outcome}}'],
        ]),
        graph(
          'Tokens',
          'Requests of OAuth clients a second, by grant. An active client exchanges its refresh token every 15 minutes.',
          'ops',
          [[rateBy('grant, outcome', 'auth_tokens_total'), '{{grant}}: {{outcome}}']],
        ),
        graph('Registrations of OAuth clients', 'A second.', 'ops', [
          [rateBy('outcome', 'auth_registrations_total'), '{{outcome}}'],
        ]),
        graph('Mails', 'A second.', 'ops', [[rateBy('outcome', 'mails_total'), '{{outcome}}']]),
        graph('Time of the authorization server (99 of 100)', 'Password checks are slow on purpose.', 's', [
          [
            quantile(0.99, ', route', api('http_request_duration_seconds_bucket', ',route=~"/api/auth/.*"')),
            '{{route}}',
          ],
        ]),
      ],
    },
    {
      title: 'Agents',
      panels: [
        graph(
          'Calls of tools',
          'A second, by outcome. The agent can correct `refused` calls.',
          'ops',
          [[rateBy('outcome', `${TOOL_SECONDS}_count`), '{{outcome}}']],
          { stacked: true },
        ),
        graph('Busiest tools', 'Calls a second.', 'ops', [
          [`topk(10, ${rateBy('tool', `${TOOL_SECONDS}_count`)})`, '{{tool}}'],
        ]),
        graph('Time of a call (99 of 100)', 'Including the wait that the call asks for, at most a minute.', 's', [
          [`topk(10, ${quantile(0.99, ', tool', api(`${TOOL_SECONDS}_bucket`))})`, '{{tool}}'],
        ]),
        graph('Tools that refuse or fail', 'Calls a second.', 'ops', [
          [
            `topk(10, ${rateBy('tool, outcome', `${TOOL_SECONDS}_count`, ',outcome=~"refused|failed"')})`,
            '{{tool}}: {{outcome}}',
          ],
        ]),
      ],
    },
  ],
};
