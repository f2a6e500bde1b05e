/** For what the secret of an organization's alerts is sealed, so that it opens nothing else. */
export const alertPurpose = (organizationId: string): readonly string[] => ['alert-webhook', organizationId];
