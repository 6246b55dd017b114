/** Adds a device with passkeys to a page in Chromium (WebAuthn, section 11: User Agent Automation). */
import type { Page } from 'playwright-core';

export interface Device {
  /** Sets whether it verifies the person from now on. */
  recognizes(person: boolean): Promise<void>;
  /** Counts its passkeys. */
  count(): Promise<number>;
}

/** Gives its owner's consent at once. */
export async function plugIn(page: Page): Promise<Device> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    recognizes: async (isUserVerified) =>
      void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
    count: async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}
