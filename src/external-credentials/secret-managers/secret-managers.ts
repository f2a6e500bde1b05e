import type { Secret } from '../../common/settings/secret.js';
import type { Egress } from '../../egress/egress.js';
import { HttpCaller } from '../../egress/http-caller.js';
import type { WorkloadIdentity } from '../workload-identity/workload-identity.js';
import { AwsSecretsManager } from './aws-secrets-manager.js';
import { AzureKeyVault } from './azure-key-vault.js';
import { checkMachineMode } from './check-machine-mode.js';
import { GoogleSecretManager } from './google-secret-manager.js';
import { type ManagerType, modeOf } from './manager-table.js';
import { SecretFiles } from './secret-files.js';
import type { SecretLocation, SecretManager } from './secret-location.js';
import { Vault } from './vault.js';

/** Reads secrets from every manager. Nothing is cached here but the tokens of logins. */
export class SecretManagers implements SecretManager {
  private readonly managers: Readonly<Record<ManagerType, SecretManager>>;

  /** `folder`: that of secret files, or null. */
  constructor(
    egress: Egress,
    private readonly identity: WorkloadIdentity,
    folder: string | null,
  ) {
    const http = new HttpCaller(egress);
    this.managers = {
      aws_sm: new AwsSecretsManager(egress, http, identity),
      azure_kv: new AzureKeyVault(egress, http, identity),
      file: new SecretFiles(folder),
      gcp_sm: new GoogleSecretManager(egress, http, identity),
      hashicorp_vault: new Vault(http),
    };
  }

  async read(location: SecretLocation): Promise<Secret> {
    const { manager, auth, organizationId } = location;
    checkMachineMode(this.identity, organizationId, { mode: modeOf(manager, auth), auth });
    return this.managers[manager].read(location);
  }
}
