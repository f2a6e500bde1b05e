{{- define "gatehouse.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "gatehouse.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gatehouse.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "gatehouse.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "gatehouse.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ .registry }}/{{ end }}{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* The settings that hold secrets, by their names in the values. */}}
{{- define "gatehouse.secretSettings" -}}
masterKey: GATEHOUSE_MASTER_KEY
keyPepper: GATEHOUSE_KEY_PEPPER
tlsKeyPassphrase: GATEHOUSE_TLS_KEY_PASSPHRASE
databaseUrl: DATABASE_URL
redisUrl: REDIS_URL
clickhouseUrl: CLICKHOUSE_URL
metricsToken: GATEHOUSE_METRICS_TOKEN
initOwnerPassword: GATEHOUSE_INIT_OWNER_PASSWORD
nextMasterKey: GATEHOUSE_NEXT_MASTER_KEY
smtpUrl: GATEHOUSE_SMTP_URL
s3SecretAccessKey: GATEHOUSE_S3_SECRET_ACCESS_KEY
sinkWebhookSecret: GATEHOUSE_SINK_WEBHOOK_SECRET
httpsProxy: HTTPS_PROXY
httpProxy: HTTP_PROXY
identityHeader: IDENTITY_HEADER
{{- end -}}

{{/* The secrets that a component reads, as a list of names separated by spaces. Only the first start of an api pod makes the owner. */}}
{{- define "gatehouse.secretsOf" -}}
{{- $found := list -}}
{{- range $name, $secret := .root.Values.secrets -}}
{{- $isRead := or (eq $.component "api") (and (eq $.component "worker") (ne $name "initOwnerPassword")) (eq $name "databaseUrl") -}}
{{- if and $secret.existingSecret $isRead -}}
{{- $found = append $found $name -}}
{{- end -}}
{{- end -}}
{{- join " " $found -}}
{{- end -}}

{{/* In seconds: the phases of the drain, and 35 for the processes and the embedded database to end. */}}
{{- define "gatehouse.gracePeriod" -}}
{{- add .Values.drain.delaySeconds .Values.drain.timeoutSeconds .Values.drain.spoolSeconds 35 -}}
{{- end -}}
