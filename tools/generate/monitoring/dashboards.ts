/**
 * Lists five dashboards: the fleet, one stream, the processes that look after them, sign-ins, and money. Pure: no I/O,
 * no clock.
 */
import { FLEET } from './fleet.ts';
import { MONEY } from './money.ts';
import type { Dashboard } from './panel.ts';
import { OPERATOR } from './processes.ts';
import { SIGN_INS } from './sign-ins.ts';
import { STREAM } from './stream.ts';

export const DASHBOARDS: Dashboard[] = [FLEET, STREAM, OPERATOR, SIGN_INS, MONEY];
