/** Lists series that fire the alerts about sign-in, mail and tools, and similar series that do not; see alerts.ts. */
import type { AlertCase } from './alerts.ts';

const OURS = 'job="api",instance="a"';
const OTHERS = 'job="others",instance="z"';
const OUR_API = 'db_pool_max_connections{pool="loopstream",job="api",instance="a"}';
const signIns = (outcome: string, target = OURS) =>
  `auth_sign_ins_total{method="password",outcome="${outcome}",${target}}`;
const tokens = (outcome: string) => `auth_tokens_total{grant="refresh_token",outcome="${outcome}",${OURS}}`;
const registrations = (outcome: string) => `auth_registrations_total{outcome="${outcome}",${OURS}}`;
const reuse = `auth_refresh_reuse_total{${OURS}}`;
const mails = (outcome: string) => `mails_total{outcome="${outcome}",${OURS}}`;
const calls = (tool: string, outcome: string) =>
  `mcp_tool_duration_seconds_count{tool="${tool}",outcome="${outcome}",${OURS}}`;

export const ACCESS_CASES: Record<string, AlertCase[]> = {
  LoopStreamSignInsFailing: [
    {
      series: {
        [signIns('ok')]: '0+8x20',
        [signIns('failed')]: '0+2x20',
        [tokens('ok')]: '0+3x20',
        [tokens('failed')]: '0x20',
        [OUR_API]: '10x20',
      },
      at: '18m',
      fires: {},
    },
    {
      // Refused sign-ins are no fault of ours, and neither are another instance's numbers.
      series: {
        [signIns('ok')]: '0+8x20',
        [signIns('refused')]: '0+50x20',
        [signIns('failed', OTHERS)]: '0+50x20',
        [tokens('failed')]: '0 1x20',
        [tokens('ok')]: '0+30x20',
        [OUR_API]: '10x20',
      },
      at: '18m',
    },
  ],
  LoopStreamSignInsRefused: [
    {
      series: {
        [signIns('ok')]: '0+3x30',
        [signIns('refused')]: '0+10x30',
        [signIns('limited')]: '0+40x30',
        [OUR_API]: '10x30',
      },
      at: '25m',
      fires: {},
    },
    {
      // A Monday morning.
      series: { [signIns('ok')]: '0+300x30', [signIns('refused')]: '0+60x30', [OUR_API]: '10x30' },
      at: '25m',
    },
  ],
  LoopStreamRefreshReuse: [
    { series: { [reuse]: '0 0 1x20', [OUR_API]: '10x20' }, at: '10m', fires: {} },
    { series: { [reuse]: '1x90', [OUR_API]: '10x90' }, at: '80m' },
  ],
  LoopStreamRegistrations: [
    { series: { [registrations('limited')]: '0+2x60', [OUR_API]: '10x60' }, at: '55m', fires: {} },
    { series: { [registrations('ok')]: '0+10x60', [OUR_API]: '10x60' }, at: '59m', fires: {} },
    {
      series: { [registrations('limited')]: '0 9x60', [registrations('ok')]: '0+2x60', [OUR_API]: '10x60' },
      at: '59m',
    },
  ],
  LoopStreamMailsFailing: [
    { series: { [mails('failed')]: '0 0 1x20', [mails('sent')]: '0+5x20', [OUR_API]: '10x20' }, at: '10m', fires: {} },
    { series: { [mails('failed')]: '3x20', [mails('sent')]: '0+5x20', [OUR_API]: '10x20' }, at: '10m' },
  ],
  LoopStreamToolsFailing: [
    {
      series: {
        [calls('start_stream', 'failed')]: '0+2x40',
        [calls('start_stream', 'ok')]: '0+8x40',
        [calls('start_stream', 'cancelled')]: '0+90x40',
        [calls('get_me', 'ok')]: '0+8x40',
        [OUR_API]: '10x40',
      },
      at: '30m',
      fires: { tool: 'start_stream' },
    },
    {
      series: {
        [calls('start_stream', 'failed')]: '0 1x40',
        [calls('start_stream', 'refused')]: '0+8x40',
        [calls('start_stream', 'ok')]: '0+8x40',
        [OUR_API]: '10x40',
      },
      at: '30m',
    },
  ],
};
