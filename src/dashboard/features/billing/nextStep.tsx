/** Says what the owner of an account can do about its credit: pay, or ask whom. */
import { Link } from '@tanstack/react-router';
import type { Billing } from '../../../service/client/index.ts';
import { SupportLink } from '../../ui/supportLink.tsx';

/** Follows the outlook of the balance, as a sentence or a link of its own. */
export function NextStep({
  billing: { state, paymentMethods, supportUrl },
}: {
  billing: Pick<Billing, 'state' | 'paymentMethods' | 'supportUrl'>;
}) {
  if (state === 'suspended')
    return (
      <>
        Ask <SupportLink url={supportUrl} /> for the reason.
      </>
    );
  if (paymentMethods.length > 0) return <Link to="/billing">Add credit</Link>;
  return (
    <>
      Ask <SupportLink url={supportUrl} /> for credit.
    </>
  );
}
