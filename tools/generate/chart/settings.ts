/**
 * Makes values of the chart out of the table of settings, and the template that turns them into the environment of a role.
 * Pure: no I/O, no clock.
 */

import type { Setting } from '../../../src/core/settings/table-types.ts';
import { type Role, SETTINGS, type SettingName } from '../../../src/service/settings/table.ts';
import { choice, flag, text, type Value, whole } from './schema.ts';

const ALL = Object.entries(SETTINGS) as [SettingName, Setting][];

/** The value of the chart that sets a setting, with its description, default and bounds. */
export function valueFor(name: SettingName): Value {
  const setting: Setting = SETTINGS[name];
  const { description } = setting;
  switch (setting.type) {
    case 'integer':
      return whole(description, setting.default as number, setting.min, setting.max);
    case 'flag':
      return flag(description, setting.default ?? false);
    case 'text':
      return setting.enum
        ? choice(description, setting.default ?? '', setting.enum)
        : text(description, setting.default);
    default:
      throw new Error(`${name} has the type ${setting.type}. Declare a separate chart value for it.`);
  }
}

/** The expression of Helm for the text of a value. */
function expression(setting: Setting, path: string): string {
  switch (setting.type) {
    case 'integer':
      return `{{ ${path} | int64 | toString | quote }}`;
    case 'list':
      return `{{ join "," ${path} | quote }}`;
    default:
      return `{{ ${path} | toString | quote }}`;
  }
}

/** A line `NAME: "value"`. Texts and lists are left out where they are empty. */
function line(name: SettingName, setting: Setting): string {
  const path = `.Values.${setting.chart}`;
  const entry = `LOOPSTREAM_${name}: ${expression(setting, path)}\n`;
  const isOptional = setting.type === 'list' || (setting.type === 'text' && setting.default === undefined);
  return isOptional ? `{{- if ${path} }}\n${entry}{{- end }}\n` : entry;
}

const CHART_ROLES = ['operator', 'api', 'billing', 'platform'] as const satisfies readonly Role[];

/** Templates `loopstream.settings.<role>`, each a YAML mapping of variables to texts. */
export const settingsTemplate = (made: string): string =>
  `{{/* From src/core/settings/. ${made} */}}\n${CHART_ROLES.map((role) => {
    const lines = ALL.filter(([, setting]) => setting.chart !== undefined && setting.roles.includes(role));
    return `{{- define "loopstream.settings.${role}" -}}\n${lines.map(([name, setting]) => line(name, setting)).join('')}{{- end }}\n`;
  }).join('\n')}`;
