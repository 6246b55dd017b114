/**
 * Writes the mails. They contain no text that a stranger typed, except their own address. Otherwise a sign-up with
 * somebody else's address would send that person a stranger's mail in our name. Pure: no I/O, no clock.
 */
import type { Mail } from './mailer.ts';

export interface MailText {
  to: string;
  subject: string;
  /** Sentences, each paragraph one string. */
  before: readonly string[];
  /** The action that the reader is asked for, if any: an address of ours and its label. */
  action?: { label: string; url: string };
  after: readonly string[];
}

const html = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const BODY =
  'margin:0;padding:24px 16px;background:#f4f4f1;color:#17191b;font:16px/1.55 system-ui,Helvetica,sans-serif';
const CARD = 'max-width:480px;margin:0 auto;padding:28px 24px;background:#ffffff;border-radius:14px';
const BUTTON =
  'display:inline-block;padding:12px 22px;background:#0a7768;color:#ffffff;border-radius:8px;font-weight:600;text-decoration:none';
const SMALL = 'color:#5b6066;font-size:13px;overflow-wrap:anywhere';

/** The same in both forms; the address stands in full, for those who do not follow a button that they cannot see through. */
export function renderMail({ to, subject, before, action, after }: MailText): Mail {
  const paragraphs = (texts: readonly string[]) => texts.map((text) => `<p>${html(text)}</p>`).join('\n');
  const link = action && html(action.url);
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${html(subject)}</title></head>
<body style="${BODY}">
<div style="${CARD}">
<p style="margin-top:0;font-weight:650">loopstream</p>
${paragraphs(before)}
${action ? `<p><a href="${link}" style="${BUTTON}">${html(action.label)}</a></p>\n<p style="${SMALL}">Or open this address: <a href="${link}">${link}</a></p>` : ''}
${paragraphs(after)}
</div>
</body>
</html>
`;
  const text = [...before, ...(action ? [`${action.label}:\n${action.url}`] : []), ...after].join('\n\n');
  return { to, subject, text: `${text}\n`, html: page };
}

/** `60` → `1 hour`. */
const spell = (minutes: number): string => {
  const [count, unit] = minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

export const buildVerificationMail = (to: string, url: string, minutes: number): Mail =>
  renderMail({
    to,
    subject: 'Confirm your e-mail address',
    before: [
      'Someone, hopefully you, wants to create a loopstream account with this address. Confirm that it is yours:',
    ],
    action: { label: 'Confirm this address', url },
    after: [
      `The link works for ${spell(minutes)}. In the browser in which you signed up, one click is enough. In another browser, you choose your password.`,
      'If it was not you, do nothing. No account is created then.',
    ],
  });

/** To the owner of an address with which somebody tries to sign up again: on the page the answer is the same as for a new one. */
export const buildExistingAccountMail = (to: string, urls: { signIn: string; reset: string }): Mail =>
  renderMail({
    to,
    subject: 'You already have a loopstream account',
    before: [
      'Someone, hopefully you, tried to create a loopstream account with this address. The address already has one.',
    ],
    action: { label: 'Sign in', url: urls.signIn },
    after: [
      `If you have forgotten your password, choose a new one: ${urls.reset}`,
      'If it was not you, do nothing. Nothing has changed.',
    ],
  });

export const buildResetMail = (to: string, url: string, minutes: number): Mail =>
  renderMail({
    to,
    subject: 'Choose a new password',
    before: ['Someone, hopefully you, asked for a new password for your loopstream account.'],
    action: { label: 'Choose a new password', url },
    after: [`The link works once, for ${spell(minutes)}. If it was not you, do nothing. Your password stays the same.`],
  });

/** To the owner of an account for which strangers try passwords. */
export const buildGuessedMail = (to: string, urls: { account: string; reset: string }): Mail =>
  renderMail({
    to,
    subject: 'Somebody tries to guess your password',
    before: [
      'Many passwords were tried for your loopstream account within an hour, from places where you have not signed in before. ' +
        'Further passwords from such places are refused for now. Browsers and networks where you have signed in are not affected.',
      'A long password that you use nowhere else withstands this. A passkey cannot be guessed. You can add one to your account:',
    ],
    action: { label: 'Open your account', url: urls.account },
    after: [
      `To sign in from a new place, or if you use this password elsewhere, choose a new one: ${urls.reset}`,
      'You get this mail once a day at most.',
    ],
  });

export const buildAccountDeletedMail = (to: string): Mail =>
  renderMail({
    to,
    subject: 'Your account is being deleted',
    before: [
      'Your loopstream account is being deleted, as requested with your password. This includes your streams, ' +
        'uploads, playlists, destinations, API keys and connected apps.',
    ],
    after: ['This cannot be undone.'],
  });
