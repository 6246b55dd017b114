/** What people do at the pages, where several tests need it done. */

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** At the page of signing up; ends at the one that says to look for mail. */
export async function signUp(page: Page, who: { firstName: string; email: string; password: string }): Promise<void> {
  await page.getByLabel('First name').fill(who.firstName);
  await page.getByLabel('E-mail address').fill(who.email);
  await page.getByLabel('Password', { exact: true }).fill(who.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
}

/** The session ends while a form is half filled in, which the page finds out as it is sent; `goOn`, when they are back. */
export async function endWhileTyping(page: Page, url: string) {
  await page.goto(`${url}/destinations`);
  await page.getByRole('button', { name: 'Add destination' }).click();
  const form = page.getByRole('dialog', { name: 'New destination' });
  await form.getByLabel('Name').fill('Half typed');
  await form.getByRole('textbox', { name: 'Stream key' }).fill('abcd-efgh');
  await page.context().clearCookies();
  await form.getByRole('button', { name: 'Add destination' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.waitFor();
  const goOn = async () => {
    await again.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Name').inputValue()).toBe('Half typed');
  };
  return { again, goOn };
}
