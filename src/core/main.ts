#!/usr/bin/env node
/** The operator alone: its own roles and commands, and those of its pods. */
import { CORE_ROLES } from './roles.ts';
import { start } from './start.ts';

await start(CORE_ROLES);
