/** Names browsers. Pure: no I/O, no clock. */

const BROWSERS: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const first = (table: readonly [RegExp, string][], text: string) => table.find(([sign]) => sign.test(text))?.[1];

/** `Firefox on Linux`, as far as a browser tells the truth about itself. */
export function nameBrowser(userAgent: string | null): string {
  if (userAgent === null) return 'A program';
  const [browser, system] = [first(BROWSERS, userAgent), first(SYSTEMS, userAgent)];
  if (!browser) return 'A program';
  return system ? `${browser} on ${system}` : browser;
}
