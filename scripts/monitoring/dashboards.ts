/** Four dashboards: the fleet, one stream, the processes that look after them, and who comes in. Pure: no I/O, no clock. */
import { FLEET } from './fleet.ts';
import type { Dashboard } from './panel.ts';
import { OPERATOR } from './processes.ts';
import { STREAM } from './stream.ts';
import { VISITORS } from './visitors.ts';

export const DASHBOARDS: Dashboard[] = [FLEET, STREAM, OPERATOR, VISITORS];
