// What Nutch, StormCrawler and Heritrix do with regular expressions, as their documentation and sources say.
// java ExportTargets.java nutch|heritrix|pairs FILE URLS: reads URLs, one a line, and writes what becomes of each.

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

public class ExportTargets {
    record Step(Pattern pattern, String replacement) {}

    public static void main(String[] arguments) throws Exception {
        List<Step> steps = switch (arguments[0]) {
            case "nutch" -> nutch(arguments[1]);
            case "heritrix" -> heritrix(arguments[1]);
            default -> pairs(arguments[1]);
        };
        StringBuilder made = new StringBuilder();
        for (String url : Files.readAllLines(Path.of(arguments[2]), StandardCharsets.UTF_8)) {
            for (Step step : steps) {
                Matcher matcher = step.pattern().matcher(url);
                if (!arguments[0].equals("heritrix")) {
                    url = matcher.replaceAll(step.replacement());
                } else if (matcher.matches()) {
                    url = formatted(matcher, step.replacement());
                }
            }
            made.append(url).append('\n');
        }
        System.out.print(made);
    }

    static Element root(String file) throws Exception {
        DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        return builder.parse(new File(file)).getDocumentElement();
    }

    static List<Step> nutch(String file) throws Exception {
        List<Step> steps = new ArrayList<>();
        Element root = root(file);
        if (!root.getTagName().equals("regex-normalize")) {
            throw new IllegalArgumentException(root.getTagName());
        }
        NodeList rules = root.getElementsByTagName("regex");
        for (int at = 0; at < rules.getLength(); at++) {
            Element rule = (Element) rules.item(at);
            String pattern = rule.getElementsByTagName("pattern").item(0).getTextContent();
            steps.add(new Step(Pattern.compile(pattern), rule.getElementsByTagName("substitution").item(0).getTextContent()));
        }
        return steps;
    }

    static List<Step> heritrix(String file) throws Exception {
        List<Step> steps = new ArrayList<>();
        NodeList beans = root(file).getElementsByTagName("bean");
        for (int at = 0; at < beans.getLength(); at++) {
            Element bean = (Element) beans.item(at);
            if (!bean.getAttribute("class").endsWith(".RegexRule")) {
                continue;
            }
            NodeList properties = bean.getElementsByTagName("property");
            String[] values = new String[2];
            for (int each = 0; each < properties.getLength(); each++) {
                Element property = (Element) properties.item(each);
                values[property.getAttribute("name").equals("regex") ? 0 : 1] = property.getAttribute("value");
            }
            steps.add(new Step(Pattern.compile(values[0]), values[1]));
        }
        return steps;
    }

    static List<Step> pairs(String file) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(file), StandardCharsets.UTF_8)) {
            String[] fields = line.split("\t", -1);
            steps.add(new Step(Pattern.compile(fields[0]), fields[1]));
        }
        return steps;
    }

    // Heritrix: $n, of as many digits as there are, is a group; what took no part is nothing.
    static String formatted(Matcher matcher, String format) {
        StringBuilder made = new StringBuilder();
        for (int at = 0; at < format.length(); at++) {
            if (format.charAt(at) != '$') {
                made.append(format.charAt(at));
                continue;
            }
            int end = at + 1;
            while (end < format.length() && Character.isDigit(format.charAt(end))) {
                end++;
            }
            String group = matcher.group(Integer.parseInt(format.substring(at + 1, end)));
            made.append(group == null ? "" : group);
            at = end - 1;
        }
        return made.toString();
    }
}
