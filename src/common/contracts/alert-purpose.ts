/** The purpose for which an organization's alert secret is sealed, so that it cannot be used for another. */
export const alertPurpose = (organizationId: string): readonly string[] => ['alert-webhook', organizationId];
