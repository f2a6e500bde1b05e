// pod-security judges the pods of manifests on standard input by the evaluator of Kubernetes' own admission plugin, at the level
// "restricted": https://kubernetes.io/docs/concepts/security/pod-security-standards/
//
// It also decodes the manifests strictly, so that a field unknown to Kubernetes is an error. Exit code 1: a pod or a manifest is refused,
// or there was no pod.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

var restricted = api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}

func main() {
	judged, refused, err := judge(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d pods meet the restricted standard, %d do not\n", judged-refused, refused)
	if refused > 0 || judged == 0 {
		os.Exit(1)
	}
}

func judge(input io.Reader) (judged, refused int, err error) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return 0, 0, err
	}
	decoder, err := strictDecoder()
	if err != nil {
		return 0, 0, err
	}
	for documents := yaml.NewYAMLReader(bufio.NewReader(input)); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return judged, refused, nil
		}
		if err != nil {
			return judged, refused, err
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) {
			continue
		}
		if err != nil {
			return judged, refused, fmt.Errorf("a manifest is wrong: %w", err)
		}
		name, pod := podOf(object)
		if pod == nil {
			continue
		}
		judged++
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			refused++
			fmt.Printf("%s: %s\n", name, result.ForbiddenDetail())
		}
	}
}

func strictDecoder() (runtime.Decoder, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer(), nil
}

func podOf(object runtime.Object) (string, *corev1.PodTemplateSpec) {
	switch o := object.(type) {
	case *appsv1.StatefulSet:
		return "StatefulSet " + o.Name, &o.Spec.Template
	case *appsv1.Deployment:
		return "Deployment " + o.Name, &o.Spec.Template
	case *batchv1.Job:
		return "Job " + o.Name, &o.Spec.Template
	case *corev1.Pod:
		return "Pod " + o.Name, &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}
	}
	return "", nil
}
